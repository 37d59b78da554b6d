"""What a case may expect of a step. A check returns what came when that is not what was wanted, else None."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.cases import _answers as answers
from tests.cases._errors import kind_of, matches
from tests.cases._hits import folded, ghosts, meets, missing, shown
from tests.cases._outcome import Outcome
from tests.cases._status import fresh_differs, mixed
from tests.cases._wiki_steps import GRAPH, WIKI_PAGE

Check = Callable[[Outcome, Any], str | None]

ON_ERROR = frozenset({"error", "says", "removed", "mixed_models", "finishes_within_s", "peak_extra_mb_at_most"})
"""What can be checked although the step ended with an error."""


def _equal(came: object, wanted: object) -> str | None:
    return None if came == wanted else str(came)


def _at_most(came: float, wanted: float) -> str | None:
    return None if came <= wanted else f"{came:g}"


# ---------------------------------------------------------------------- any step


def error(outcome: Outcome, wanted: Any) -> str | None:
    """Check the kind of error; None means that the step must succeed."""
    came = outcome.error
    if wanted is None:
        return None if came is None else f"{came.code}: {came.message}"
    if came is None:
        return "no error"
    return None if matches(kind_of(came.code), wanted) else f"{came.code}: {came.message}"


def says(outcome: Outcome, wanted: str | Sequence[str]) -> str | None:
    """Check that the error, or the output of a process, says all these words."""
    told = outcome.facts.get("said", "")
    if outcome.error is not None:
        told += f"{outcome.error.message} {outcome.error.hint}"
    words = [wanted] if isinstance(wanted, str) else wanted
    return None if all(word.casefold() in told.casefold() for word in words) else repr(told[-400:])


# ---------------------------------------------------------------------- sync


def _failed(outcome: Outcome, wanted: Sequence[Mapping[str, Any]]) -> str | None:
    came = {one.path: one.code for one in outcome.value.failed}
    told = ", ".join(f"{path} {code}" for path, code in came.items()) or "none failed"
    expected = {one["path"]: one["error"] for one in wanted}
    allowed = set(expected) | set(outcome.facts.get("may_fail", ()))
    right = all(path in came and matches(kind_of(came[path]), kind) for path, kind in expected.items())
    return None if right and set(came) <= allowed else told


def _removed(outcome: Outcome, wanted: int) -> str | None:
    return _equal(outcome.facts["lost"] if outcome.error is not None else outcome.value.removed, wanted)


def _count(name: str) -> Check:
    return lambda outcome, wanted: _equal(getattr(outcome.value, name), wanted)


SYNC: Mapping[str, Check] = {
    "added": _count("added"),
    "updated": _count("updated"),
    "unchanged": _count("unchanged"),
    "moved": _count("moved"),
    "removed": _removed,
    "failed": _failed,
    "embedded_chunks_at_most": lambda outcome, wanted: _at_most(outcome.facts["embedded"], wanted),
    "finishes_within_s": lambda outcome, wanted: _at_most(outcome.seconds, wanted),
    "peak_extra_mb_at_most": lambda outcome, wanted: _at_most(outcome.facts["extra_mb"], wanted),
    "mixed_models": lambda outcome, wanted: _equal(mixed(outcome.facts["world"]), wanted),
}

KILLED: Mapping[str, Check] = {
    "ends_within_s": lambda outcome, wanted: (
        _at_most(outcome.facts["ends_s"], wanted) if outcome.facts["waited"] else "it was done before it was ended"
    ),
}

PARALLEL: Mapping[str, Check] = {}

# ---------------------------------------------------------------------- search


def _must_include(outcome: Outcome, wanted: Sequence[Mapping[str, Any]]) -> str | None:
    lacking = [entry for entry in wanted if missing(outcome.value.hits, entry)]
    return f"not {lacking[0]} in: {shown(outcome.value.hits)}" if lacking else None


def _must_not(outcome: Outcome, wanted: Sequence[Mapping[str, Any]]) -> str | None:
    found = [hit for entry in wanted for hit in ghosts(outcome.value.hits, entry)]
    return shown(found) if found else None


def _scores(outcome: Outcome, wanted: str) -> str | None:
    scores = [hit.score for hit in outcome.value.hits]
    assert wanted == "not rising", f"unknown order of scores {wanted!r}"
    return None if scores == sorted(scores, reverse=True) else str(scores)


def _hits_at_least(outcome: Outcome, wanted: int) -> str | None:
    return None if len(outcome.value.hits) >= wanted else shown(outcome.value.hits)


def _hits_at_most(outcome: Outcome, wanted: int) -> str | None:
    return None if len(outcome.value.hits) <= wanted else f"{len(outcome.value.hits)}: {shown(outcome.value.hits)}"


def _range(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    """Check the dates that the search used, as its filters tell them."""
    from datetime import datetime

    used = outcome.value.query.filters
    expected = [datetime.fromisoformat(one).date().isoformat() for one in wanted]
    return _equal([used.after, used.before], expected)


SEARCH: Mapping[str, Check] = {
    "must_include": _must_include,
    "must_not": _must_not,
    "hits_at_most": _hits_at_most,
    "hits_at_least": _hits_at_least,
    "scores": _scores,
    "range": _range,
}

# ---------------------------------------------------------------------- looking


def _text_has(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    text = folded(outcome.value)
    lacking = [one for one in wanted if folded(one) not in text]
    return f"no {lacking[0]!r} in {text[:500]!r}" if lacking else None


def _text_lacks(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    # A line break inside what is unwanted is meant as it stands.
    texts = (outcome.value, folded(outcome.value))
    found = [one for one in wanted if any(one in text for text in texts)]
    return f"{found[0]!r} in {folded(outcome.value)[:500]!r}" if found else None


def _exactly(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    allowed = {*wanted, *outcome.facts.get("may_include", ())}
    came: Collection[str] = outcome.value
    return None if set(wanted) <= set(came) <= allowed and len(set(came)) == len(came) else str(sorted(came))


def _names_include(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    return None if set(wanted) <= set(outcome.value) else str(sorted(outcome.value))


def _names_lack(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    return None if not set(wanted) & set(outcome.value) else str(sorted(outcome.value))


NAMES: Mapping[str, Check] = {
    "exactly": _exactly,
    "may_include": lambda outcome, wanted: None,
    "must_include": _names_include,
    "must_not": _names_lack,
}
TEXT: Mapping[str, Check] = {"must_include": _text_has, "must_not": _text_lacks}


def _files(outcome: Outcome, wanted: int) -> str | None:
    return _equal(sum(1 for row in outcome.value.rows if row.state == "indexed"), wanted)


def _failed_files(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    came = sorted(row.path for row in outcome.value.rows if row.state == "failed")
    return None if came == sorted(wanted) else str(came)


def _orphans(outcome: Outcome, wanted: int) -> str | None:
    assert wanted == 0, "only an index without orphans can be wanted"
    counted = sum(row.chunks for row in outcome.value.rows)
    if counted != outcome.value.status.chunks:
        return f"{outcome.value.status.chunks} chunks, where the files have {counted}"
    return "; ".join(outcome.value.faults) or None


STATUS: Mapping[str, Check] = {
    "files": _files,
    "failed_files": _failed_files,
    "orphan_rows": _orphans,
    "rows_same_as_fresh_index": lambda outcome, wanted: fresh_differs(outcome.facts["world"]) if wanted else None,
    "chunks_at_most": lambda outcome, wanted: _at_most(outcome.value.status.chunks, wanted),
    "mixed_models": lambda outcome, wanted: _equal(mixed(outcome.facts["world"]), wanted),
}


def _not_on_disk(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    root: Path = outcome.facts["world"].root
    found = [name for name in wanted if (root / name).exists()]
    return f"{found[0]} exists" if found else None


def _not_written(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    """Look for words in every file of the index, and in what was logged."""
    world = outcome.facts["world"]
    places = [("the log", world.logged().encode())]
    places += [(path.name, path.read_bytes()) for path in sorted(world.data_dir.rglob("*")) if path.is_file()]
    for word in wanted:
        for name, content in places:
            if any(word.encode(coding) in content for coding in ("utf-8", "utf-16-le")):
                return f"{word!r} in {name}"
    return None


CHECKS: Mapping[str, Mapping[str, Check]] = {
    "sync": SYNC,
    "rebuild": SYNC,
    "sync_and_kill": KILLED,
    "parallel": PARALLEL,
    "search": SEARCH,
    "ask": answers.ASK,
    "get_text": TEXT,
    "list_files": NAMES,
    "list_skipped": NAMES,
    "status": STATUS,
    "graph": GRAPH,
    "wiki_page": WIKI_PAGE,
    "crawl": {"pages": lambda outcome, wanted: _equal(outcome.value.pages, wanted)},
    "disk": {"must_not_exist": _not_on_disk},
    "logs_and_index_files": {"must_not": _not_written},
}
"""The checks by kind of step; `error` and `says` go with all of them."""


def check_of(kind: str, name: str) -> Check:
    """Return a check.

    Raises:
        KeyError: If steps of this kind cannot be expected to have it.
    """
    if name == "error":
        return error
    if name == "says":
        return says
    return CHECKS.get(kind, {})[name]


__all__ = ["CHECKS", "ON_ERROR", "Check", "check_of", "meets"]
