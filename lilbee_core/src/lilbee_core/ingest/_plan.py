"""What a sync will do, decided from the ledger and the walk alone. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias, TypeVar

from lilbee_core.ingest._walk import Found, LeftOut
from lilbee_core.types import MEMORY, DocumentRow, DocumentState, FileStamp

_RACY_NS = 2_000_000_000
"""A file that changed about when it was read may have changed again unseen: hash it once more."""

UNREAD = "+unread"
"""Ends the name of the extractor of a document some of whose pages nobody could read."""
T = TypeVar("T")
VersionOf: TypeAlias = Callable[[FileStamp], str | None]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A file that must be hashed, with what the ledger knows of it; `again` says to read it whatever comes of that."""

    found: Found
    stamp: FileStamp | None
    again: bool = False


@dataclass(slots=True, kw_only=True)
class Plan:
    """The walk of one collection, compared with the ledger."""

    unchanged: int = 0
    candidates: list[Candidate] = field(default_factory=list[Candidate])
    returned: list[FileStamp] = field(default_factory=list[FileStamp])
    gone: list[FileStamp] = field(default_factory=list[FileStamp])
    left_out: list[tuple[LeftOut, FileStamp | None]] = field(default_factory=list[tuple[LeftOut, FileStamp | None]])
    skipped: list[FileStamp] = field(default_factory=list[FileStamp])
    known_failures: list[FileStamp] = field(default_factory=list[FileStamp])
    obsolete: list[FileStamp] = field(default_factory=list[FileStamp])
    kept_out: list[tuple[Found, FileStamp | None, str]] = field(
        default_factory=list[tuple[Found, FileStamp | None, str]]
    )
    """New files in a folder that is excluded, with that folder."""
    unwanted: list[FileStamp] = field(default_factory=list[FileStamp])
    """Excluded files that are not where they were."""


def compare(
    entries: Iterable[Found | LeftOut],
    stamps: Iterable[FileStamp],
    *,
    retry_failed: bool,
    force: bool,
    retry_codes: Collection[str] = (),
    version_of: VersionOf,
    wanted: Callable[[Found], bool] = lambda _: False,
) -> Plan:
    """Sort what the walk found into unchanged, to be hashed, left out and gone.

    `stamps` are those of the collection. They are matched with files by exact name on disk. `version_of` gives the
    extractor that would read a stamp's file today; a failed or skipped file is tried again when that, its size or
    its time changed, or when it failed for one of `retry_codes`. A file that was excluded on request stays so,
    whatever becomes of it; one that is not there any more may be found elsewhere. A new file in a folder that was
    excluded is kept out too, unless it is `wanted`.
    """
    plan = Plan()
    known: dict[tuple[str, bool], FileStamp] = {}
    for one in stamps:
        if one.extractor != MEMORY:
            _know(plan, known, one)
    folders = tuple(path for (path, _), one in known.items() if path.endswith("/") and _is_excluded(one))
    for entry in entries:
        stamp = known.pop((entry.raw_path, True) if entry.raw_path else (entry.path, False), None)
        if stamp is not None and _is_excluded(stamp):
            continue
        if isinstance(entry, LeftOut):
            plan.left_out.append((entry, stamp))
        elif entry.path.startswith(folders) and _is_new(stamp) and not wanted(entry):
            plan.kept_out.append((entry, stamp, next(one for one in folders if entry.path.startswith(one))))
        elif stamp is None or force:
            plan.candidates.append(Candidate(entry, stamp))
        elif stamp.holds_chunks:
            partly = is_partly_read(stamp.extractor) and (
                retry_failed or reads_more_now(stamp.extractor, version_of(stamp))
            )
            _indexed(plan, entry, stamp, again=partly)
        else:
            retry = stamp.state is DocumentState.FAILED and (retry_failed or stamp.code in retry_codes)
            _not_indexed(plan, entry, stamp, retry=retry, version_of=version_of)
    for one in known.values():
        _drop(plan, one)
    return plan


def _know(plan: Plan, known: dict[tuple[str, bool], FileStamp], stamp: FileStamp) -> None:
    """Keep one stamp per file; should there be two, what is excluded counts, then what can be found."""
    other = known.setdefault(stamp.key, stamp)
    if other is stamp:
        return
    if _rank(stamp) > _rank(other):
        known[stamp.key], stamp = stamp, other
    (plan.gone if stamp.holds_chunks else plan.obsolete).append(stamp)


def _is_excluded(stamp: FileStamp) -> bool:
    return stamp.state is DocumentState.EXCLUDED


def _is_new(stamp: FileStamp | None) -> bool:
    """Say whether nobody ever read the file, though it may have been left out by a rule."""
    return stamp is None or not (stamp.holds_chunks or stamp.sha256)


def _rank(stamp: FileStamp) -> tuple[bool, bool]:
    return _is_excluded(stamp), stamp.holds_chunks


def _drop(plan: Plan, stamp: FileStamp) -> None:
    if _is_excluded(stamp):
        plan.unwanted.append(stamp)
    else:
        (plan.gone if stamp.holds_chunks else plan.obsolete).append(stamp)


def _same(entry: Found, stamp: FileStamp) -> bool:
    """Say whether nothing tells that a file is another one; files of a copied library have other numbers, too."""
    alike = entry.mtime_ns == stamp.mtime_ns and entry.size == stamp.size
    return alike and entry.inode in (0, stamp.inode)


def is_partly_read(extractor: str) -> bool:
    """Say whether a document was read by this extractor without some of its pages."""
    return extractor.endswith(UNREAD)


def reads_more_now(extractor: str, current: str | None) -> bool:
    """Say whether pages that nobody could read may be read by now: something reads pictures that did not then."""
    return is_partly_read(extractor) and extractor != f"{current}{UNREAD}"


def _indexed(plan: Plan, entry: Found, stamp: FileStamp, *, again: bool) -> None:
    if again or not _same(entry, stamp) or entry.path != stamp.path or _racy(stamp):
        plan.candidates.append(Candidate(entry, stamp, again=again))
        return
    plan.unchanged += 1
    if stamp.state is DocumentState.MISSING:
        plan.returned.append(stamp)


def _not_indexed(plan: Plan, entry: Found, stamp: FileStamp, *, retry: bool, version_of: VersionOf) -> None:
    if retry or not _same(entry, stamp) or stamp.extractor != (version_of(stamp) or ""):
        plan.candidates.append(Candidate(entry, stamp))
    elif stamp.state is DocumentState.FAILED:
        plan.known_failures.append(stamp)
    else:
        plan.skipped.append(stamp)


def _racy(stamp: FileStamp) -> bool:
    if not stamp.attempted_at:
        return True
    read_ns = datetime.fromisoformat(stamp.attempted_at).timestamp() * 1e9
    return abs(read_ns - stamp.mtime_ns) < _RACY_NS


def pair_moves(
    gone: Sequence[DocumentRow], fresh: Sequence[T], *, place: Callable[[T], tuple[str, str]]
) -> tuple[list[tuple[DocumentRow, T]], list[DocumentRow], list[T]]:
    """Match documents whose file is not where it was with files of the same content (sha256) at a new place.

    `place` gives path and sha256 of a file. Of several equal files the one with the same name wins, then path order;
    another ending is another kind of file. Returns the pairs, the documents and the files that are left over.
    """
    if not gone or not fresh:
        return [], list(gone), list(fresh)
    by_hash: dict[str, list[T]] = {}
    for one in fresh:
        by_hash.setdefault(place(one)[1], []).append(one)
    pairs: list[tuple[DocumentRow, T]] = []
    left: list[DocumentRow] = []
    for row in gone:
        choices = by_hash.get(row.sha256, []) if row.sha256 else []
        fitting = [one for one in choices if suffix(place(one)[0]) == suffix(row.path)]
        if not fitting:
            left.append(row)
            continue
        name = row.path.rpartition("/")[2]
        chosen = next((one for one in fitting if place(one)[0].rpartition("/")[2] == name), fitting[0])
        choices.remove(chosen)
        pairs.append((row, chosen))
    taken = {id(one) for _, one in pairs}
    return pairs, left, [one for one in fresh if id(one) not in taken]


def suffix(path: str) -> str:
    """Return the ending of a name, the whole name if it has none."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[2].lower() if "." in name else name
