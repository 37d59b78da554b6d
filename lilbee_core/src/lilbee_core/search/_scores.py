"""Scores of hits that a stage put into another order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from lilbee_core.types import Hit


def falling(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    """Return the hits in their order with scores that do not rise.

    A hit that was put behind a lower one gets the number just below the score before it, so that whoever sorts by
    score finds the same order. No score is ever raised.
    """
    fallen: list[Hit] = []
    last = math.inf
    for hit in hits:
        last = hit.score if hit.score <= last else math.nextafter(last, -math.inf)
        fallen.append(hit if hit.score == last else replace(hit, score=last))
    return tuple(fallen)
