"""Walks the collections and settles what needs no reading: left out, gone, moved, unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from lilbee_core.background import give_way
from lilbee_core.errors import SourceUnavailable
from lilbee_core.events import DocumentFailed, DocumentSkipped, EventSink
from lilbee_core.ingest._moves import Hashed, place_of, settle_places
from lilbee_core.ingest._plan import Candidate, Plan, compare, pair_moves
from lilbee_core.ingest._prepare import date_of
from lilbee_core.ingest._tally import Tally
from lilbee_core.ingest._walk import Found, LeftOut, Root, Walk, WalkOptions, is_below
from lilbee_core.protocols import CancelToken, DocumentReader, Ledger
from lilbee_core.types import MEMORY, DocumentId, DocumentRow, DocumentState, FileProblem, FileStamp, document_id

_BLOCK = 1 << 20
_CHECK_EVERY = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class ToRead:
    """A file to extract. `row` is what the ledger will say once it is indexed."""

    found: Found
    row: DocumentRow
    known: bool


@dataclass(slots=True, kw_only=True)
class Survey:
    """All that a sync has to do, over all collections."""

    to_read: list[ToRead] = field(default_factory=list[ToRead])
    moved: list[tuple[DocumentRow, DocumentRow]] = field(default_factory=list[tuple[DocumentRow, DocumentRow]])
    redated: list[DocumentRow] = field(default_factory=list[DocumentRow])
    remove: list[DocumentRow] = field(default_factory=list[DocumentRow])
    remove_late: list[DocumentRow] = field(default_factory=list[DocumentRow])
    record: list[DocumentRow] = field(default_factory=list[DocumentRow])
    forget: list[DocumentId] = field(default_factory=list[DocumentId])

    @property
    def bytes(self) -> int:
        """Bytes to read."""
        return sum(one.found.size for one in self.to_read)


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyOptions:
    """How a sync treats what it finds."""

    walk: WalkOptions = WalkOptions()
    prune: bool = False
    retry_failed: bool = False
    retry_codes: frozenset[str] = frozenset()
    force: bool = False
    wanted: Sequence[str] = ()
    """Files and folders that were asked for by name: what lies there is excluded no more."""


Digest: TypeAlias = Callable[[str, CancelToken], str]
"""Names the content of a file."""


class Surveyor:
    """Compares folders with the ledger. Writes nothing.

    `now` tells the time as the ledger writes it.
    """

    def __init__(
        self,
        ledger: Ledger,
        reader: DocumentReader,
        events: EventSink,
        now: Callable[[], str],
        tally: Tally,
        *,
        digest: Digest,
    ) -> None:
        self._ledger = ledger
        self._reader = reader
        self._events = events
        self._now = now
        self._tally = tally
        self._digest = digest

    def survey(self, roots: Sequence[Root], options: SurveyOptions, cancel: CancelToken) -> Survey:
        """Walk all roots.

        Raises:
            Cancelled: When `cancel` says so.
        """
        survey = Survey()
        fresh: list[Hashed] = []
        changed: list[Hashed] = []
        gone: list[DocumentId] = []
        unwanted: list[DocumentId] = []
        for root in roots:
            plan = self._plan(root, options, cancel, survey)
            if plan is None:
                continue
            self._settle(root, plan, survey)
            gone += (stamp.id for stamp in plan.gone)
            unwanted += (stamp.id for stamp in plan.unwanted)
            for one in self._hashed(root, plan.candidates, survey, cancel):
                self._sort(one, survey, fresh, changed, force=options.force)
        rows = sorted(self._ledger.rows_of(gone).values(), key=lambda row: (row.collection, row.path))
        places = settle_places(fresh, changed, rows)
        survey.moved += [(old, self._relocated(old, one)) for old, one in places.moved]
        survey.to_read += [self._to_read(one) for one in places.changed]
        new = self._without(unwanted, places.new, options.wanted, survey)
        survey.to_read += [self._to_read(replace(one, row=None)) for one in new]
        # A file that was given another ending is read anew; its vectors can be had from the old one until then.
        again = {one.row.sha256 for one in survey.to_read}
        for row in places.gone:
            (survey.remove_late if row.sha256 in again else survey.remove).append(row)
        self._distinct_ids(survey)
        return survey

    def _without(
        self, unwanted: Sequence[DocumentId], new: Sequence[Hashed], wanted: Sequence[str], survey: Survey
    ) -> list[Hashed]:
        """Return the new files but those that are excluded and only changed their place."""
        if not unwanted:
            return list(new)
        rows = sorted(self._ledger.rows_of(unwanted).values(), key=lambda row: (row.collection, row.path))
        asked = [one for one in new if any(is_below(one.found.file, place) for place in wanted)]
        known = {id(one) for one in asked}
        moved, _, others = pair_moves(rows, [one for one in new if id(one) not in known], place=place_of)
        survey.record += [
            replace(self._relocated(old, one), state=old.state, code=old.code, reason=old.reason) for old, one in moved
        ]
        return [*asked, *others]

    # ------------------------------------------------------------------ one collection

    def _plan(self, root: Root, options: SurveyOptions, cancel: CancelToken, survey: Survey) -> Plan | None:
        stamps = self._ledger.stamps(root.collection)
        walk = Walk(root, options.walk)
        entries: list[Found | LeftOut] = []
        try:
            for entry in walk:
                if len(entries) % _CHECK_EVERY == 0:
                    cancel.check()
                    give_way()
                entries.append(entry)
        except OSError as error:
            self._missing(root, f"{root.folder} cannot be read: {error.strerror or error}", stamps, survey)
            return None
        if not walk.entries and not options.prune and any(one.holds_chunks and _is_file(one) for one in stamps):
            self._missing(root, f"{root.folder} is suddenly empty", stamps, survey)
            return None
        plan = compare(
            entries,
            stamps,
            retry_failed=options.retry_failed,
            retry_codes=options.retry_codes,
            force=options.force,
            version_of=self._version_of,
            wanted=lambda found: any(is_below(found.file, place) for place in options.wanted),
        )
        self._protect(plan, entries)
        return plan

    def _missing(self, root: Root, reason: str, stamps: Sequence[FileStamp], survey: Survey) -> None:
        """Keep the documents of a folder that is not there, and say so in the ledger."""
        self._tally.unavailable.append(root.collection)
        self._tally.warn(f"collection {root.collection}: {reason}; its documents are kept (`--prune` deletes them)")
        here = [one.id for one in stamps if one.state is DocumentState.INDEXED and _is_file(one)]
        survey.record += [
            replace(row, state=DocumentState.MISSING, code=SourceUnavailable.default_code, reason=reason)
            for row in self._ledger.rows_of(here).values()
        ]

    def _protect(self, plan: Plan, entries: Sequence[Found | LeftOut]) -> None:
        """Keep documents below folders that could not be read: not seen is not gone."""
        blind = tuple(one.path for one in entries if isinstance(one, LeftOut) and one.failed and one.path.endswith("/"))
        if blind:
            plan.unchanged += sum(stamp.path.startswith(blind) for stamp in plan.gone)
            plan.gone = [stamp for stamp in plan.gone if not stamp.path.startswith(blind)]
            plan.obsolete = [stamp for stamp in plan.obsolete if not stamp.path.startswith(blind)]
            plan.unwanted = [stamp for stamp in plan.unwanted if not stamp.path.startswith(blind)]

    def _settle(self, root: Root, plan: Plan, survey: Survey) -> None:
        self._tally.unchanged += plan.unchanged
        survey.forget += [stamp.id for stamp in plan.obsolete]
        returned = self._ledger.rows_of([stamp.id for stamp in plan.returned])
        survey.record += [
            replace(row, state=DocumentState.INDEXED, code=None, reason=None) for row in returned.values()
        ]
        if plan.known_failures:
            count = len(plan.known_failures)
            names = ", ".join(stamp.path for stamp in plan.known_failures[:3])
            more = f" and {count - 3} more" if count > 3 else ""
            self._tally.warn(f"{count} file(s) failed before and have not changed: {names}{more} (--retry tries again)")
        for left, stamp in plan.left_out:
            self._leave_out(root, left, stamp, survey)
        for found, stamp, folder in plan.kept_out:
            self._keep_out(root, found, stamp, folder, survey)
        for stamp in plan.skipped:
            self._tally.skipped.append(_problem(root.collection, stamp.path, stamp.code or "", stamp.reason or ""))

    def _leave_out(self, root: Root, left: LeftOut, stamp: FileStamp | None, survey: Survey) -> None:
        problem = _problem(root.collection, left.path, left.code, left.reason)
        (self._tally.failed if left.failed else self._tally.skipped).append(problem)
        if left.failed and stamp is not None and stamp.holds_chunks:
            # It cannot be read now, but nothing says that it changed: what is indexed stays.
            self._event(root, left)
            return
        state = DocumentState.FAILED if left.failed else DocumentState.SKIPPED
        if stamp is not None and (stamp.state, stamp.code, stamp.reason) == (state, left.code, left.reason):
            return
        self._event(root, left)
        row = self._unread(root, left, state, left.code, left.reason)
        survey.record.append(row)
        if stamp is None:
            return
        if stamp.holds_chunks:
            survey.remove += self._ledger.rows_of([stamp.id]).values()
        elif stamp.id != row.id:
            survey.forget.append(stamp.id)

    def _keep_out(self, root: Root, found: Found, stamp: FileStamp | None, folder: str, survey: Survey) -> None:
        """Exclude a new file, because its folder is."""
        reason = f"its folder {folder} was removed on request"
        row = self._unread(root, found, DocumentState.EXCLUDED, "excluded", reason)
        survey.record.append(row)
        if stamp is not None and stamp.id != row.id:
            survey.forget.append(stamp.id)
        self._tally.skipped.append(_problem(root.collection, found.path, "excluded", reason))

    def _unread(self, root: Root, entry: Found | LeftOut, state: DocumentState, code: str, reason: str) -> DocumentRow:
        """Return the row of a file that is not read."""
        return DocumentRow(
            id=document_id(root.collection, entry.path, ""),
            collection=root.collection,
            path=entry.path,
            state=state,
            code=code,
            reason=reason,
            raw_path=entry.raw_path,
            attempted_at=self._now(),
        )

    def _event(self, root: Root, left: LeftOut) -> None:
        kind = DocumentFailed if left.failed else DocumentSkipped
        self._events(kind(collection=root.collection, path=left.path, code=left.code, reason=left.reason))

    # ------------------------------------------------------------------ content

    def _hashed(
        self, root: Root, candidates: Sequence[Candidate], survey: Survey, cancel: CancelToken
    ) -> Iterator[Hashed]:
        known = [one.stamp.id for one in candidates if one.stamp is not None and one.stamp.holds_chunks]
        rows = self._ledger.rows_of(known)
        for candidate in candidates:
            found, stamp = candidate.found, candidate.stamp
            read_at = self._now()
            try:
                digest = self._digest(found.file, cancel)
            except OSError as error:
                self._unreadable(root, candidate, error, survey)
                continue
            if stamp is not None and not stamp.holds_chunks:
                survey.forget.append(stamp.id)
            row = rows.get(stamp.id) if stamp is not None else None
            yield Hashed(root.collection, found, digest, row, read_at, candidate.again)

    def _sort(self, one: Hashed, survey: Survey, fresh: list[Hashed], changed: list[Hashed], *, force: bool) -> None:
        row, found = one.row, one.found
        if row is None:
            fresh.append(one)
        elif force or one.again:
            survey.to_read.append(self._to_read(one))
        elif row.sha256 != one.sha256:
            changed.append(one)
        elif found.path != row.path:
            # One of two twins is gone, so the other one is shown by its plain name.
            survey.moved.append((row, self._relocated(row, one)))
        else:
            self._tally.unchanged += 1
            same = self._relocated(row, one)
            (survey.record if same.date == row.date else survey.redated).append(same)

    def _to_read(self, one: Hashed) -> ToRead:
        found, known = one.found, one.row
        identity = known.id if known is not None else document_id(one.collection, found.path, one.sha256)
        row = DocumentRow(
            id=identity,
            collection=one.collection,
            path=found.path,
            state=DocumentState.INDEXED,
            size=found.size,
            mtime_ns=found.mtime_ns,
            inode=found.inode,
            sha256=one.sha256,
            raw_path=found.raw_path,
            attempted_at=one.read_at,
            indexed_at=one.read_at,
        )
        return ToRead(found=found, row=row, known=known is not None)

    def _unreadable(self, root: Root, candidate: Candidate, error: OSError, survey: Survey) -> None:
        stamp = candidate.stamp
        if isinstance(error, FileNotFoundError):
            # It vanished since the walk; the next sync sees whether it is gone for good.
            self._tally.unchanged += stamp is not None and stamp.holds_chunks
            return
        reason = f"cannot be read: {error.strerror or type(error).__name__}"
        found = candidate.found
        left = LeftOut(
            path=found.path, raw_path=found.raw_path, code="extract.not_readable", reason=reason, failed=True
        )
        self._leave_out(root, left, stamp, survey)

    def _relocated(self, old: DocumentRow, new: Hashed) -> DocumentRow:
        """Return the row of a document whose content is what it was. A date that came from the file follows it."""
        found = new.found
        date = date_of(found.mtime_ns) if old.file_date else old.date
        return replace(
            old,
            collection=new.collection,
            path=found.path,
            raw_path=found.raw_path,
            size=found.size,
            mtime_ns=found.mtime_ns,
            inode=found.inode,
            date=date,
            state=DocumentState.INDEXED,
            code=None,
            reason=None,
            attempted_at=new.read_at,
        )

    def _version_of(self, stamp: FileStamp) -> str | None:
        return self._reader.version(stamp.path, stamp.media_type)

    # ------------------------------------------------------------------ ids

    def _distinct_ids(self, survey: Survey) -> None:
        """Give a new file an id of its own where a moved document still holds the one it would get."""
        wanted = [one.row.id for one in survey.to_read if not one.known]
        held = self._ledger.rows_of(wanted)
        taken = {row.id for _, row in survey.moved} | {one.row.id for one in survey.to_read if one.known}
        for index, one in enumerate(survey.to_read):
            if one.known:
                continue
            row, salt = one.row, 0
            while row.id in taken or _is_elsewhere(held.get(row.id), row):
                salt += 1
                row = replace(row, id=document_id(row.collection, f"{one.row.path}\x00{salt}", row.sha256))
                held = {**held, **self._ledger.rows_of([row.id])}
            taken.add(row.id)
            survey.to_read[index] = replace(one, row=row)


def _is_elsewhere(held: DocumentRow | None, row: DocumentRow) -> bool:
    return held is not None and (held.collection, held.path) != (row.collection, row.path)


def _is_file(stamp: FileStamp) -> bool:
    return stamp.extractor != MEMORY


def _problem(collection: str, path: str, code: str, reason: str) -> FileProblem:
    return FileProblem(path=path, collection=collection, code=code, reason=reason)


def sha256_of(file: str, cancel: CancelToken) -> str:
    """Return the name of a file's content.

    Raises:
        OSError: If it cannot be read.
    """
    digest = hashlib.sha256()
    with open(file, "rb", buffering=0) as handle:
        while block := handle.read(_BLOCK):
            cancel.check()
            give_way()
            digest.update(block)
    return digest.hexdigest()
