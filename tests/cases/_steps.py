"""Steps that ask something of the library."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lilbee_core import Filter, Lilbee
from lilbee_core.errors import LilbeeError, SourceUnavailable
from lilbee_core.testing import ScriptedChat
from tests.cases._case import Step
from tests.cases._file_steps import FILE_STEPS
from tests.cases._outcome import Gauge, Outcome
from tests.cases._web_steps import WEB_STEPS
from tests.cases._wiki_steps import WIKI_STEPS
from tests.cases._world import World

ROOT = Path(__file__).parents[2]
CHILD = Path(__file__).with_name("_child.py")
PROFILES = {"keyword": "keyword", "semantic": "semantic", "hybrid": "default"}
_PATIENCE_S = 120


def act(world: World, step: Step) -> Outcome:
    """Do a step and return what it led to.

    Raises:
        KeyError: If there is no such kind of step.
    """
    kind = step["do"]
    if kind in FILE_STEPS:
        FILE_STEPS[kind](world, step)
        return Outcome()
    with Gauge() as gauge:
        try:
            outcome = LIBRARY_STEPS[kind](world, step)
        except LilbeeError as error:
            outcome = Outcome(error=error)
    outcome.seconds = gauge.seconds
    outcome.facts.setdefault("extra_mb", gauge.extra_mb)
    return outcome


def _sync(world: World, step: Step) -> Outcome:
    before, sent = _indexed(world.bee), len(world.embedder.texts)
    outcome = Outcome()
    try:
        outcome.value = world.bee.sync()
    except SourceUnavailable as error:
        # Who deleted every file does as the hint says; a folder that is gone must lose nothing.
        if step.get("expect", {}).get("removed"):
            outcome.value = world.bee.sync(prune=True)
        else:
            outcome.error = error
    except LilbeeError as error:
        outcome.error = error
    outcome.facts["embedded"] = len(world.embedder.texts) - sent
    outcome.facts["lost"] = max(0, before - _indexed(world.bee))
    return outcome


def _sync_and_kill(world: World, step: Step) -> Outcome:
    """Start a sync in its own process and signal it while it waits after so many files."""
    world.close()
    child = _start(world, {"sync": step["after_files"]})
    assert child.stdout is not None
    said = []
    for line in child.stdout:
        said.append(line)
        if line.startswith("waiting"):
            break
    started = time.monotonic()
    child.send_signal(_signal(step["signal"]))
    rest, errors = child.communicate(timeout=_PATIENCE_S)
    seconds = time.monotonic() - started
    told = "".join(said) + rest
    facts = {"ends_s": seconds, "said": told + errors, "waited": "waiting" in told, "code": child.returncode}
    return Outcome(facts=facts)


def _signal(name: str) -> int:
    import signal

    return int(getattr(signal, f"SIG{name}"))


def _parallel(world: World, step: Step) -> Outcome:
    """Run lists of steps in processes of their own, all at once, each with its own open library."""
    world.close()
    children = [_start(world, {"steps": steps, "number": at}) for at, steps in enumerate(step["processes"])]
    failures: list[str] = []
    for at, child in enumerate(children):
        said, errors = child.communicate(timeout=_PATIENCE_S)
        if child.returncode:
            failures.append(f"process {at} ended with {child.returncode}: {errors[-400:]}")
        else:
            failures += [f"process {at}: {line}" for line in json.loads(said.splitlines()[-1])]
    return Outcome(facts={"failures": failures})


def _start(world: World, task: Mapping[str, Any]) -> subprocess.Popen[str]:
    told = world.base / f"task-{time.monotonic_ns()}.json"
    told.write_text(json.dumps({"world": world.to_dict(), **task}), "utf-8")
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cases._child", str(told)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _search(world: World, step: Step) -> Outcome:
    query = step["q"] * step.get("q_times", 1)
    filters = Filter(paths=(step["within"].rstrip("/") + "/",)) if "within" in step else None
    profile = PROFILES[step.get("mode", "hybrid")]
    return Outcome(value=world.bee.search(query, top_k=step.get("top", 10), profile=profile, filters=filters))


def _ask(world: World, step: Step) -> Outcome:
    from lilbee_core.errors import ProviderError

    fails = step.get("model_fails")
    reply = ProviderError(str(fails)) if fails is not None else step.get("model_says", "")
    chat = ScriptedChat(reply)
    world.use_chat(chat)
    outcome = Outcome()
    try:
        outcome.value = world.bee.ask(step["q"])
    except LilbeeError as error:
        outcome.error = error
    outcome.facts["requests"] = chat.requests
    outcome.facts["question"] = step["q"]
    outcome.facts["model_says"] = step.get("model_says", "")
    return outcome


def _get_text(world: World, step: Step) -> Outcome:
    lines = step.get("lines")
    return Outcome(value=world.bee.get_text(step["path"], f"{lines[0]}-{lines[1]}" if lines else None).text)


def _list_files(world: World, step: Step) -> Outcome:
    return Outcome(value=[row.path for row in world.bee.documents(state="indexed")])


def _list_skipped(world: World, step: Step) -> Outcome:
    rows = world.bee.documents()
    return Outcome(value=[row.path for row in rows if str(row.state) not in {"indexed", "failed"} and row.reason])


@dataclass(frozen=True, slots=True, kw_only=True)
class Stored:
    """What the library says of itself."""

    status: Any
    rows: tuple[Any, ...]
    faults: tuple[str, ...]


def _status(world: World, step: Step) -> Outcome:
    bee = world.bee
    faults = tuple(one.detail for one in bee.doctor.run() if one.name == "index" and not one.ok)
    stored = Stored(status=bee.status(), rows=tuple(bee.documents()), faults=faults)
    return Outcome(value=stored)


def _rebuild(world: World, step: Step) -> Outcome:
    return Outcome(value=world.bee.rebuild())


def _optimize(world: World, step: Step) -> Outcome:
    return Outcome(value=world.bee.optimize())


def _reopen(world: World, step: Step) -> Outcome:
    world.close()
    return Outcome(value=world.bee.status())


def _set(world: World, step: Step) -> Outcome:
    """Change settings as a user would who starts lilbee anew with them."""
    world.close()
    for name, value in step.items():
        if name == "embedder":
            world.embedder_name = value
        elif name == "context_tokens":
            world.settings["num_ctx"] = value
        elif name == "passwords":
            world.settings["extract_password"] = "\n".join(value)
        elif name != "do":
            world.settings[name] = value
    return Outcome()


def _clock(world: World, step: Step) -> Outcome:
    world.set_time(step["now"], step.get("zone"))
    return Outcome()


def _disk(world: World, step: Step) -> Outcome:
    return Outcome()


LIBRARY_STEPS: Mapping[str, Callable[[World, Step], Outcome]] = {
    "sync": _sync,
    "sync_and_kill": _sync_and_kill,
    "parallel": _parallel,
    "search": _search,
    "ask": _ask,
    "get_text": _get_text,
    "list_files": _list_files,
    "list_skipped": _list_skipped,
    "status": _status,
    "rebuild": _rebuild,
    "optimize": _optimize,
    "reopen": _reopen,
    "set": _set,
    "clock": _clock,
    "disk": _disk,
    "logs_and_index_files": _disk,
    **WEB_STEPS,
    **WIKI_STEPS,
}
"""What to do for each kind of step."""


def _indexed(bee: Lilbee) -> int:
    """How many documents can be found; those of a folder that is missing still can."""
    return sum(1 for row in bee.documents() if row.holds_chunks)
