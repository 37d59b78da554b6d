"""What holds when nothing is set (R192, R277-R293): as values, from a file, from a variable, as an argument."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.errors import SettingsError
from lilbee_core.settings import Settings, load_settings
from lilbee_core.types import Query

# By requirement: the flat names of the settings and their defaults.
DEFAULTS: dict[str, object] = {
    "chat_model": "auto",
    "embedding_model": "auto",
    "vision_model": "none",
    "top_k": 10,
    "max_distance": 0.9,
    "adaptive_threshold": False,
    "adaptive_threshold_step": 0.2,
    "chunk_size": 512,
    "chunk_overlap": 100,
    "system_prompt": "",
    "mmr_lambda": 0.95,
    "diversity_max_per_source": 3,
    "candidate_multiplier": 3,
    "query_expansion_count": 3,
    "expansion_skip_threshold": 0.8,
    "expansion_skip_gap": 0.15,
    "expansion_guardrails": True,
    "expansion_similarity_threshold": 0.5,
    "max_context_sources": 5,
    "hyde": False,
    "hyde_weight": 0.7,
    "reranker_model": "",
    "rerank_candidates": 20,
    "temporal_filtering": True,
    "decay_half_life_days": 30.0,
    "show_reasoning": False,
    "llm_provider": "auto",
    "ingest_concurrency": "static",
    "ann_index_threshold": 50_000,
    "ollama_base_url": "http://localhost:11434",
    "lm_studio_base_url": "http://localhost:1234/v1",
    "embed_replicas": 0,
    "vision_replicas": 0,
    "keep_engine_warm": False,
    "engine_idle_ttl_minutes": 5.0,
    "worker_pool_eager_start": False,
    "allow_http_placement": False,
    "placement": "",
    "num_ctx": 0,
    "chat_n_ctx_target": 8192,
    "flash_attention": True,
    "kv_cache_type": "f16",
    "llama_server_path": "",
}
# One value of each kind that is allowed, and one that is not.
CHANGED: dict[str, tuple[object, str]] = {
    "top_k": (7, "many"),
    "max_distance": (0.5, "3"),
    "hyde": (True, "perhaps"),
    "chat_model": ("ollama/qwen3", ""),
    "llm_provider": ("remote", "elsewhere"),
    "ignore": (("*.bak", "old/"), "[1"),
    "rerank_candidates": (5, "0"),
}


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """An environment in which nobody has set anything."""
    return {"LILBEE_CONFIG_DIR": str(tmp_path / "config")}


@pytest.mark.parametrize("name", DEFAULTS)
def test_a_setting_has_its_default(name: str, env: dict[str, str]) -> None:
    for settings in (Settings(), load_settings(env=env)):
        assert settings.get(name) == DEFAULTS[name]
        assert type(settings.get(name)) is type(DEFAULTS[name])
        assert settings.origin(name) == "default"
    assert Settings().to_dict()[name] == DEFAULTS[name]


def test_a_query_asks_for_ten_hits() -> None:
    assert Query(text="x").top_k == Settings().search.top_k == 10


def _in_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(list(value)) if isinstance(value, tuple) else repr(value)


def _in_words(value: object) -> str:
    return ",".join(value) if isinstance(value, tuple) else str(value)


@pytest.mark.parametrize("name", CHANGED)
def test_later_layers_win(name: str, tmp_path: Path, env: dict[str, str]) -> None:
    """User's file, library's file, environment, argument: each against all before it."""
    default, changed = Settings().get(name), CHANGED[name][0]
    user, library = tmp_path / "config" / "config.toml", tmp_path / ".lilbee" / "config.toml"
    layers = {"user": user, "library": library}
    for file in layers.values():
        file.parent.mkdir()
    told = {"LILBEE_" + name.upper(): _in_words(changed)}

    def load(*named: str) -> Settings:
        for layer, file in layers.items():
            value = changed if layer == named[-1] else default
            file.write_text(f"{name} = {_in_toml(value)}\n" if layer in named and value != "" else "", "utf-8")
        variables = {**env, **told} if "environment" in named and named[-1] == "environment" else env
        if "environment" in named and named[-1] != "environment":
            variables = {**env, "LILBEE_" + name.upper(): _in_words(default)}
        return load_settings(library, variables, {name: changed} if named[-1] == "argument" else {})

    order = ("user", "library", "environment", "argument")
    for depth in range(1, len(order) + 1):
        settings = load(*order[:depth])
        assert settings.get(name) == changed, order[:depth]
        assert settings.origin(name) == order[depth - 1]


@pytest.mark.parametrize("name", [name for name, (_, bad) in CHANGED.items() if bad])
def test_a_value_that_is_not_allowed_is_named_with_its_setting(name: str, env: dict[str, str]) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(env={**env, "LILBEE_" + name.upper(): CHANGED[name][1]})
    assert name in caught.value.message
    assert caught.value.hint


@pytest.mark.parametrize(
    "values",
    [{"chunk_size": 100, "chunk_overlap": 100}, {"chunk_overlap": 600}, {"top_k": 0}, {"hyde_weight": 1.5}],
)
def test_values_that_make_no_sense_together_are_refused(values: dict[str, object]) -> None:
    with pytest.raises(SettingsError):
        Settings().changed(values)


def test_every_setting_is_described_and_typed() -> None:
    from lilbee_core.settings import sections

    for section in sections().values():
        for name, field in section.model_fields.items():
            assert field.description, name
            assert field.annotation is not None, name
            assert not field.is_required(), name
