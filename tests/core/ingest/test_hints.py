"""Whoever reads why a file is not in the index also reads what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from lilbee_core.errors import ExtractError, LilbeeError, SourceUnavailable
from lilbee_core.testing import a_row
from lilbee_core.types import hint_for


def kinds(root: type[LilbeeError]) -> Iterator[type[LilbeeError]]:
    yield root
    for one in root.__subclasses__():
        yield from kinds(one)


def test_every_failure_of_a_file_says_what_to_do() -> None:
    without = [one.default_code for root in (ExtractError, SourceUnavailable) for one in kinds(root)
               if not hint_for(one.default_code)]  # fmt: skip
    assert without == []


def test_a_row_that_is_indexed_needs_no_hint() -> None:
    assert (hint_for(None), a_row(code=None).hint) == ("", "")
    assert a_row(code="excluded").hint == hint_for("excluded") != ""
