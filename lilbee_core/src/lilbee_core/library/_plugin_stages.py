"""The search stages of plugins, built and put into the lists of the profiles."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, cast

from lilbee_core.library._parts import Parts
from lilbee_core.types import Part

if TYPE_CHECKING:
    from lilbee_core.plugins import Offer, StageSpec
    from lilbee_core.protocols import SearchStage
    from lilbee_core.search import SearchParts

STAGES = (
    "parse", "temporal", "lexical", "probe", "expand", "hyde", "expand_by_graph", "embed", "guard", "dense", "newest",
    "distance", "fuse", "fetch", "define", "order", "boost_concepts", "fold", "mmr", "rerank", "decay", "neighbors",
    "cap", "recency", "limit", "mark", "judge",
)  # fmt: skip
"""The stages that come with lilbee, in their order. One that a profile lacks is a place all the same."""


def with_plugins(
    parts: Parts, profile: Callable[[SearchParts], Sequence[SearchStage]], search_parts: SearchParts
) -> list[SearchStage]:
    """Return the profile's stages with the active stages of plugins in their places; what has none is reported."""
    from lilbee_core.plugins import place_stages

    stages = list(profile(search_parts))
    offers = {one.spec.name: one for one in parts.host.active_stages(parts.settings.plugins.search_stages)}
    built = {name: stage for name, offer in offers.items() if (stage := _build(parts, offer, search_parts))}
    if not built:
        return stages
    own = {stage.name: stage for stage in stages}
    inside = {inner: stage.name for stage in stages for inner in _inner_names(stage) if inner not in own}
    placement = place_stages(list(own), [offers[name].spec for name in built], inside=inside, order=STAGES)
    for failure in placement.failures:
        parts.host.fail(failure)
    return _fitting(parts, [own.get(name) or built[name] for name in placement.names], offers)


def _build(parts: Parts, offer: Offer[StageSpec], search_parts: SearchParts) -> SearchStage | None:
    """Build a plugin's stage. It may fail without harm, unless it takes the place of a built-in one."""
    from lilbee_core.plugins import PluginStage, StageServices
    from lilbee_core.search import Tolerant

    services = StageServices(
        reader=search_parts.reader,
        embedder=search_parts.embedder,
        reranker=search_parts.reranker,
        router=parts.router,
        concepts=search_parts.graph,
    )
    made = parts.host.attempt(offer, lambda: offer.spec.build(offer.options, services))
    if made is None:
        return None
    stage = PluginStage(made, offer.plugin)
    if offer.spec.place.relation == "replaces" or parts.settings.plugins.plugins_strict:
        return stage
    return Tolerant(stage, warning=f"Plugin stage {offer.spec.name} failed")


def _inner_names(stage: SearchStage) -> Iterable[str]:
    for inner in cast("tuple[SearchStage, ...]", getattr(stage, "stages", ())):
        yield inner.name
        yield from _inner_names(inner)


def _fitting(parts: Parts, stages: Sequence[SearchStage], offers: dict[str, Offer[StageSpec]]) -> list[SearchStage]:
    """Leave out plugin stages that stand before what they read: the whole search would be refused for their sake."""
    from lilbee_core.plugins import PluginFailure

    kept: list[SearchStage] = []
    have: frozenset[Part] = frozenset()
    for stage in stages:
        missing = sorted(stage.reads - have)
        if missing and stage.name in offers:
            message = f"the stage {stage.name!r} reads {missing[0]}, which no stage before it writes"
            hint = "Ask its author to place it later."
            parts.host.fail(
                PluginFailure(plugin=offers[stage.name].plugin, part=stage.name, message=message, hint=hint)
            )
            continue
        kept.append(stage)
        have |= stage.writes
    return kept
