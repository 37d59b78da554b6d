"""The model servers of a library: planned for its model files, and what speaks to each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import ProviderError
from lilbee_core.settings import FleetSettings, Settings, user_cache_dir, user_data_dir
from lilbee_core.types import ModelRef, Refusal

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.fleet import Fleet, FleetOptions, ModelPlanner, RoleModel
    from lilbee_core.models import ModelFolder
    from lilbee_core.protocols import Clock, Endpoint
    from lilbee_core.providers import OpenAIClient
    from lilbee_core.types import GgufFacts

ROLE_SETTINGS = {"embed": "embedding_model", "rerank": "reranker_model", "vision": "vision_model", "chat": "chat_model"}


def fleet_dir(env: Mapping[str, str] | None = None) -> Path:
    """Return where it is written down which servers run: one place for all libraries of a user."""
    return user_data_dir(env) / "fleet"


def engine_cache(env: Mapping[str, str] | None = None) -> Path:
    """Return the file that keeps what an engine can do."""
    return user_cache_dir(env) / "engines.json"


def models_dir(options: FleetSettings, env: Mapping[str, str] | None = None) -> Path:
    """Return the folder of model files."""
    return Path(options.models_dir).expanduser() if options.models_dir else user_data_dir(env) / "models"


def build_fleet(settings: Settings, *, events: EventSink, clock: Clock, env: Mapping[str, str] | None = None) -> Fleet:
    """Return the fleet for the model files that the settings name. Nothing is started, nothing is looked at."""
    from lilbee_core import __version__
    from lilbee_core.fleet import Fleet

    return Fleet(
        planner_of(settings, env),
        state_dir=fleet_dir(env),
        options=fleet_options(settings),
        version=__version__,
        cache_file=engine_cache(env),
        events=events,
        clock=clock,
    )


def planner_of(settings: Settings, env: Mapping[str, str] | None = None) -> ModelPlanner:
    """Return what plans the servers of the settings' model files."""
    from lilbee_core.fleet import ModelPlanner, PlanOptions, find_estimator, parse_placement

    options, models = settings.fleet, settings.models
    return ModelPlanner(
        models=lambda: role_models(settings, env),
        options=PlanOptions(
            num_ctx=models.num_ctx,
            chat_target=options.chat_n_ctx_target,
            chat_slots=options.chat_slots,
            embedding_tokens=models.embedding_max_tokens,
            embed_replicas=options.embed_replicas,
            vision_replicas=options.vision_replicas,
            kv_cache_type=options.kv_cache_type,
            flash_attention=options.flash_attention,
            placement=parse_placement(options.placement),
        ),
        environment=env,
        estimator=find_estimator(options.gguf_parser_path),
    )


def fleet_options(settings: Settings) -> FleetOptions:
    """Return how a fleet behaves by the settings."""
    from lilbee_core.fleet import FleetOptions

    options = settings.fleet
    return FleetOptions(
        engine_path=options.llama_server_path,
        keep_warm=options.keep_engine_warm,
        idle_ttl_s=options.engine_idle_ttl_minutes * 60,
        eager=options.worker_pool_eager_start,
        threads=options.engine_threads or None,
    )


def role_models(settings: Settings, env: Mapping[str, str] | None = None) -> list[RoleModel | Refusal]:
    """Return the model files that the settings give to roles, and why one that is missing or damaged has none."""
    return [_role_model(role, text, settings, env) for role, text in model_files(settings).items()]


def model_files(settings: Settings) -> dict[str, str]:
    """Return the model of each role whose model is a file, as the settings name it."""
    return {role: text for role, text in configured(settings).items() if text.lower().endswith(".gguf")}


def configured(settings: Settings) -> dict[str, str]:
    """Return the model of each role as the settings name it."""
    return {role: str(getattr(settings.models, name)).strip() for role, name in ROLE_SETTINGS.items()}


def _role_model(role: str, text: str, settings: Settings, env: Mapping[str, str] | None) -> RoleModel | Refusal:
    from lilbee_core.fleet import RoleModel
    from lilbee_core.models import find_projector

    try:
        facts = facts_of(ModelRef.parse(text), settings, env)
    except ProviderError as error:
        # The others are served all the same.
        return Refusal(role=role, model=text, code=error.code, reason=error.message, hint=error.hint)
    eyes = find_projector(facts) if role == "vision" else None
    return RoleModel(role=role, ref=text, facts=facts, projector=eyes)


def facts_of(ref: ModelRef, settings: Settings, env: Mapping[str, str] | None = None) -> GgufFacts:
    """Return what the file of a reference says of itself.

    Raises:
        ModelNotFound: If it is not there.
        ModelFileError: If it is no model.
    """
    from lilbee_core.models import read_facts

    return read_facts(model_folder(settings, env).require(ref.name))


def model_folder(settings: Settings, env: Mapping[str, str] | None = None) -> ModelFolder:
    """Return the model files of this machine."""
    from lilbee_core.models import ModelFolder, featured

    return ModelFolder(models_dir(settings.fleet, env), packages=featured().packages)


def embedding_facts(ref: ModelRef, settings: Settings) -> tuple[int | None, int]:
    """Return the numbers in a vector of an embedding model, and how many tokens of a text it is given."""
    facts = facts_of(ref, settings)
    most = settings.models.embedding_max_tokens
    return facts.embedding_length or None, min(most, facts.context_tokens or most)


def fleet_model(fleet: Callable[[], Fleet], role: str, ref: ModelRef, settings: Settings) -> object:
    """Return the provider of a role whose model is a file. Nothing is started before it is used."""
    from lilbee_core.fleet import FleetChat, FleetEmbedding, FleetRerank, FleetVision
    from lilbee_core.providers import OpenAIChat, OpenAIEmbedding, OpenAIRerank, OpenAIVision

    def client(endpoint: Endpoint) -> OpenAIClient:
        return _client(endpoint, settings)

    name, owner = str(ref), fleet()
    if role == "embed":
        return FleetEmbedding(
            owner,
            name,
            lambda endpoint: OpenAIEmbedding(client(endpoint), endpoint.model, raw_vectors=True, owns_client=True),
        )
    if role == "rerank":
        return FleetRerank(
            owner,
            name,
            lambda endpoint: OpenAIRerank(client(endpoint), endpoint.model, logits=True, owns_client=True),
        )
    if role == "vision":
        return FleetVision(
            owner, name, lambda endpoint: OpenAIVision(client(endpoint), endpoint.model, owns_client=True)
        )
    return FleetChat(owner, name, lambda endpoint: OpenAIChat(client(endpoint), endpoint.model, owns_client=True))


def _client(endpoint: Endpoint, settings: Settings) -> OpenAIClient:
    from lilbee_core.providers import OpenAIClient

    return OpenAIClient(
        endpoint.base_url,
        api_key=endpoint.api_key or "",
        name=f"the server of {Path(endpoint.model).name}",
        url_setting="",
        key_setting="",
        request_timeout_s=settings.models.request_timeout_s,
        connect_timeout_s=settings.models.connect_timeout_s,
        retries=0,  # the fleet knows better than to ask a dead server again
    )
