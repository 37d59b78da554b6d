"""What looks at a library from outside: the doctor, and the measure of how well it finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lilbee_core.doctor import Doctor
    from lilbee_core.evaluation import Evaluation
    from lilbee_core.library._parts import Parts
    from lilbee_core.types import CollectionInfo, SearchResult


def doctor_of(parts: Parts, *, collections: Callable[[], Sequence[CollectionInfo]]) -> Doctor:
    """Return what checks the installation and the index."""
    from lilbee_core.doctor import Doctor
    from lilbee_core.library._fleet_checks import fleet_checks
    from lilbee_core.library._identity import check_embedder
    from lilbee_core.library._waiting import query_embedder

    return Doctor(
        data_dir=parts.home.data_dir,
        store=lambda: parts.store,
        embedder=lambda: query_embedder(parts),
        verify=lambda: check_embedder(query_embedder(parts), parts.store.meta()),
        plugins=lambda: tuple(parts.host.reports),
        collections=collections,
        warnings=lambda: parts.settings.warnings,
        more=(("engine", lambda: fleet_checks(parts)),),
    )


def evaluation_of(parts: Parts, *, search: Callable[..., SearchResult]) -> Evaluation:
    """Return what measures how well a library finds what is known to be relevant."""
    from lilbee_core.evaluation import Evaluation
    from lilbee_core.library._tuning import TuningBench

    return Evaluation(
        store=lambda: parts.store,
        search=search,
        profile=lambda: parts.settings.search.profile,
        bench=lambda: TuningBench(parts),
        clock=parts.clock,
        events=parts.events,
    )
