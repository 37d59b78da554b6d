"""What a sync will do, decided from the ledger and the walk alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from lilbee_core.ingest._walk import Found, LeftOut
from lilbee_core.types import DocumentRow, DocumentState

_RACY_NS = 2_000_000_000
"""A file changed this shortly before it was read may change again unseen: hash it once more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A file that must be hashed, with the ledger row it has."""

    found: Found
    row: DocumentRow | None


@dataclass(slots=True, kw_only=True)
class Plan:
    """The walk of one collection, compared with the ledger."""

    unchanged: list[DocumentRow] = field(default_factory=list[DocumentRow])
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    gone: list[DocumentRow] = field(default_factory=list[DocumentRow])
    left_out: list[tuple[LeftOut, DocumentRow | None]] = field(default_factory=list[tuple[LeftOut, DocumentRow | None]])
    stale_rows: list[DocumentRow] = field(default_factory=list[DocumentRow])
    known_failures: list[DocumentRow] = field(default_factory=list[DocumentRow])


def compare(
    entries: Iterable[Found | LeftOut],
    rows: Mapping[str, DocumentRow],
    *,
    retry_failed: bool,
    force: bool,
    version_of: Callable[[DocumentRow], str | None],
) -> Plan:
    """Sort what the walk found into unchanged, to be read, left out and gone.

    `rows` are the collection's ledger rows by path. `version_of` gives the extractor that would read a
    row's file today; a failed or skipped file is tried again when that, its size or its time changed.
    """
    plan = Plan()
    seen: set[str] = set()
    for entry in entries:
        seen.add(entry.path)
        row = rows.get(entry.path)
        if isinstance(entry, LeftOut):
            plan.left_out.append((entry, row))
        elif row is None or force:
            if row is not None and row.state is DocumentState.EXCLUDED:
                plan.unchanged.append(row)
            else:
                plan.candidates.append(Candidate(found=entry, row=row))
        else:
            _known(plan, entry, row, retry_failed=retry_failed, version_of=version_of)
    for path, row in rows.items():
        if path not in seen and row.extractor != "memory" and row.state is not DocumentState.EXCLUDED:
            if row.chunks or row.state in (DocumentState.INDEXED, DocumentState.MISSING):
                plan.gone.append(row)
            else:
                plan.stale_rows.append(row)
    return plan


def _known(
    plan: Plan,
    entry: Found,
    row: DocumentRow,
    *,
    retry_failed: bool,
    version_of: Callable[[DocumentRow], str | None],
) -> None:
    same = entry.size == row.size and entry.mtime_ns == row.mtime_ns
    if row.state is DocumentState.EXCLUDED:
        plan.unchanged.append(row)
    elif row.state is DocumentState.INDEXED:
        if same and not _racy(row) and entry.raw_path == row.raw_path:
            plan.unchanged.append(row)
        else:
            plan.candidates.append(Candidate(found=entry, row=row))
    elif same and not retry_failed and row.code != "ignored" and row.extractor == (version_of(row) or ""):
        if row.state is DocumentState.FAILED:
            plan.known_failures.append(row)
        else:
            plan.unchanged.append(row)
    else:
        plan.candidates.append(Candidate(found=entry, row=row))


def _racy(row: DocumentRow) -> bool:
    if not row.attempted_at:
        return True
    read_ns = int(datetime.fromisoformat(row.attempted_at).timestamp() * 1e9)
    return row.mtime_ns <= read_ns < row.mtime_ns + _RACY_NS


def pair_moves(
    gone: Sequence[DocumentRow], added: Sequence[tuple[Found, str]]
) -> tuple[list[tuple[DocumentRow, Found]], list[DocumentRow]]:
    """Match files that disappeared with new ones of the same content (sha256).

    Of several equal candidates the one with the same file name wins, then path order. Returns the
    pairs and the rows that are really gone.
    """
    by_hash: dict[str, list[Found]] = {}
    for found, digest in added:
        by_hash.setdefault(digest, []).append(found)
    pairs: list[tuple[DocumentRow, Found]] = []
    left: list[DocumentRow] = []
    for row in gone:
        choices = by_hash.get(row.sha256, []) if row.sha256 and row.state is not DocumentState.FAILED else []
        suffix = _suffix(row.path)
        fitting = [one for one in choices if _suffix(one.path) == suffix]
        if not fitting:
            left.append(row)
            continue
        name = row.path.rpartition("/")[2]
        chosen = next((one for one in fitting if one.path.rpartition("/")[2] == name), fitting[0])
        choices.remove(chosen)
        pairs.append((row, chosen))
    return pairs, left


def _suffix(path: str) -> str:
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else name
