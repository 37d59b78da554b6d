"""What users of document search report: each case once, over the public API."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tests.cases._case import Case
from tests.cases._missing import OWN, UNKEPT, why_skipped
from tests.cases._run import run_case
from tests.cases._world import World


@pytest.mark.slow
def test_case(case: Case, tmp_path: Path, caplog: pytest.LogCaptureFixture, record_property: object) -> None:
    reason = why_skipped(case)
    if reason is not None:
        pytest.skip(reason)
    caplog.set_level(logging.DEBUG)
    world = World(tmp_path, case.folder)
    world.logged = lambda: caplog.text
    findings = run_case(case, world)
    for wish in findings.wishes:
        record_property("wish", wish)  # type: ignore[operator]
    unkept = UNKEPT.get(case.id) if case.folder == OWN else None
    if findings.failures and unkept:
        pytest.xfail(f"{unkept}: {findings.failures[0]}")
    if findings.failures:
        pytest.fail("\n".join([case.story, *findings.failures]), pytrace=False)
    if unkept:
        pytest.fail(f"{case.id} is kept now: take it out of UNKEPT", pytrace=False)
