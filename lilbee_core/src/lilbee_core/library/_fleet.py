"""The model servers of a library: planned for its model files, and what speaks to each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from lilbee_core.errors import ModelNotFound
from lilbee_core.settings import FleetSettings, Settings, user_cache_dir, user_data_dir
from lilbee_core.types import FLEET_ROLES, ModelRef

if TYPE_CHECKING:
    from lilbee_core.events import EventSink
    from lilbee_core.fleet import Fleet, FleetOptions, ModelPlanner, RoleModel
    from lilbee_core.protocols import Clock, Endpoint
    from lilbee_core.providers import OpenAIClient
    from lilbee_core.types import GgufFacts

_SETTINGS = {"embed": "embedding_model", "rerank": "reranker_model", "vision": "vision_model", "chat": "chat_model"}


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
    from lilbee_core.fleet import ModelPlanner, PlanOptions, parse_placement

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
    )


def fleet_options(settings: Settings) -> FleetOptions:
    """Return how a fleet behaves by the settings."""
    from lilbee_core.fleet import FleetOptions

    options = settings.fleet
    return FleetOptions(
        engine_path=options.llama_server_path,
        keep_warm=options.keep_engine_warm,
        idle_ttl_s=options.engine_idle_ttl_minutes * 60,
        threads=options.engine_threads or None,
    )


def role_models(settings: Settings, env: Mapping[str, str] | None = None) -> list[RoleModel]:
    """Return the model files that the settings give to roles.

    Raises:
        ModelNotFound: If a file is not there.
        ModelFileError: If it is no model.
    """
    from lilbee_core.fleet import RoleModel

    found: list[RoleModel] = []
    for role in FLEET_ROLES:
        text = str(getattr(settings.models, _SETTINGS[role])).strip()
        if not text.lower().endswith(".gguf"):
            continue
        facts = facts_of(ModelRef.parse(text), settings, env)
        eyes = projector_of(facts) if role == "vision" else None
        found.append(RoleModel(role=role, ref=text, facts=facts, projector=eyes))
    return found


def facts_of(ref: ModelRef, settings: Settings, env: Mapping[str, str] | None = None) -> GgufFacts:
    """Return what the file of a reference says of itself.

    Raises:
        ModelNotFound: If it is not there.
        ModelFileError: If it is no model.
    """
    from lilbee_core.models import read_facts

    folder = models_dir(settings.fleet, env)
    places = [Path(ref.name).expanduser(), folder / ref.name]
    file = next((place for place in places if place.is_file()), None)
    if file is None:
        raise ModelNotFound(
            f"there is no model file {ref.name}, neither as a path nor in {folder}",
            hint=f"Run `lilbee model pull {ref.name}`, or name a file that is there.",
        )
    return read_facts(file.resolve())


def embedding_facts(ref: ModelRef, settings: Settings) -> tuple[int | None, int]:
    """Return the numbers in a vector of an embedding model, and how many tokens of a text it is given."""
    facts = facts_of(ref, settings)
    most = settings.models.embedding_max_tokens
    return facts.embedding_length or None, min(most, facts.context_tokens or most)


def projector_of(facts: GgufFacts) -> GgufFacts | None:
    """Return the projector that lies beside a vision model, None if there is none or it cannot be read."""
    from lilbee_core.errors import ModelFileError
    from lilbee_core.models import read_facts

    for file in sorted(facts.path.parent.glob("*mmproj*.gguf")):
        try:
            found = read_facts(file)
        except ModelFileError:
            continue
        if found.projector:
            return found
    return None


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
