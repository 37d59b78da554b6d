"""Runs a case, step by step, and collects what was wrong."""

from __future__ import annotations

import traceback
from collections.abc import Mapping, Sequence
from typing import Any

from tests.cases._case import Case, Findings, Step, numbered
from tests.cases._checks import ON_ERROR, check_of
from tests.cases._errors import unclean
from tests.cases._outcome import Outcome
from tests.cases._steps import act
from tests.cases._world import World

_DESCRIBING = ("q", "mode", "as", "path", "from", "to", "signal", "lines")


class Broken(Exception):
    """A step crashed, so that what comes after it means nothing."""


def run_case(case: Case, world: World) -> Findings:
    """Run all steps of a case in `world`."""
    findings = Findings(case=case.id)
    try:
        run_steps(world, case.steps, findings)
    except Broken:
        pass
    finally:
        world.finish()
    return findings


def run_steps(world: World, steps: Sequence[Step], findings: Findings, before: str = "") -> None:
    """Run steps one after the other.

    Raises:
        Broken: If one of them crashed.
    """
    for at, step in enumerate(steps, start=1):
        label = f"{before}{at}"
        if step["do"] == "repeat":
            for number in range(step["n"]):
                run_steps(world, numbered(step["steps"], number), findings, before=f"{label}[{number}].")
            continue
        _run_step(world, step, findings, f"{label} ({describe(step)})")


def describe(step: Step) -> str:
    """Return a step in a few words."""
    parts = [str(step[key])[:60] for key in _DESCRIBING if key in step]
    return " ".join([step["do"], *parts])


def _run_step(world: World, step: Step, findings: Findings, label: str) -> None:
    try:
        _judge(step, _act(world, step), findings, label)
    except Exception as error:
        trace = "".join(traceback.format_exception(error, limit=-6))
        findings.wrong(label, "the step", "no crash", f"{type(error).__name__}: {error}\n{trace}")
        raise Broken from error


def _act(world: World, step: Step) -> Outcome:
    outcome = act(world, step)
    expect = step.get("expect", {})
    more = {"world": world, "may_fail": expect.get("may_fail", ()), "may_include": expect.get("may_include", ())}
    outcome.facts.update(more)
    return outcome


def _judge(step: Step, outcome: Outcome, findings: Findings, label: str) -> None:
    for failure in outcome.facts.get("failures", ()):
        findings.wrong(label, "a process", "no failure", failure)
    if outcome.error is not None and (problem := unclean(outcome.error)) is not None:
        findings.wrong(label, "the error", problem, outcome.error.message)
    expect = dict(step.get("expect", {}))
    wishes = expect.pop("should", {})
    _check(step, outcome, expect, findings, label, wished=False)
    _check(step, outcome, wishes, findings, label, wished=True)


def _check(
    step: Step, outcome: Outcome, expect: Mapping[str, Any], findings: Findings, label: str, *, wished: bool
) -> None:
    names = [name for name in expect if name not in {"may_fail", "may_include"}]
    if outcome.error is not None:
        unmet = [name for name in names if name not in ON_ERROR]
        if unmet and "error" not in expect:
            came = f"{outcome.error.code}: {outcome.error.message}"
            findings.wrong(label, ", ".join(unmet), {name: expect[name] for name in unmet}, came, wished=wished)
        names = [name for name in names if name in ON_ERROR]
    for name in names:
        found = check_of(step["do"], name)(outcome, expect[name])
        if found is not None:
            findings.wrong(label, name, expect[name], found, wished=wished)
