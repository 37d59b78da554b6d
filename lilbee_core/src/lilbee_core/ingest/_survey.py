"""Walks the collections and settles what needs no reading: left out, gone, moved, unchanged."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from lilbee_core.errors import SourceUnavailable
from lilbee_core.events import DocumentFailed, DocumentSkipped, EventSink
from lilbee_core.ingest._plan import Candidate, Plan, compare, pair_moves
from lilbee_core.ingest._tally import Tally
from lilbee_core.ingest._walk import Found, LeftOut, Root, Walk, WalkOptions
from lilbee_core.protocols import CancelToken, DocumentReader, Ledger
from lilbee_core.types import DocumentRow, DocumentState, FileProblem, document_id

_BLOCK = 1 << 20


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
    remove: list[DocumentRow] = field(default_factory=list[DocumentRow])
    record: list[DocumentRow] = field(default_factory=list[DocumentRow])
    forget: list[DocumentRow] = field(default_factory=list[DocumentRow])

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
    force: bool = False


class Surveyor:
    """Compares folders with the ledger. Writes nothing."""

    def __init__(self, ledger: Ledger, reader: DocumentReader, events: EventSink, now: str, tally: Tally) -> None:
        self._ledger = ledger
        self._reader = reader
        self._events = events
        self._now = now
        self._tally = tally

    def survey(self, roots: list[Root], options: SurveyOptions, cancel: CancelToken) -> Survey:
        """Walk all roots.

        Raises:
            SourceUnavailable: If no root at all can be walked.
        """
        survey = Survey()
        fresh: list[tuple[Found, str]] = []
        gone: list[DocumentRow] = []
        new: dict[str, ToRead] = {}
        for root in roots:
            cancel.check()
            plan = self._plan(root, options)
            if plan is None:
                continue
            self._settle(root, plan, survey)
            gone += plan.gone
            for one in self._hashed(root, plan.candidates, survey, cancel, force=options.force):
                if one.known:
                    survey.to_read.append(one)
                else:
                    fresh.append((one.found, one.row.sha256))
                    new[one.found.file] = one
        if roots and len(self._tally.unavailable) == len(roots):
            raise self._unavailable(roots)
        pairs, really_gone = pair_moves(gone, fresh)
        for old, found in pairs:
            survey.moved.append((old, self._relocated(old, new.pop(found.file).row)))
        survey.to_read += new.values()
        survey.remove += really_gone
        self._distinct_ids(survey)
        return survey

    def _plan(self, root: Root, options: SurveyOptions) -> Plan | None:
        rows = {row.path: row for row in self._ledger.rows(collection=root.collection)}
        walk = Walk(root, options.walk)
        try:
            entries = list(walk)
        except OSError as error:
            self._missing(root, f"{root.folder} cannot be read: {error.strerror}")
            return None
        held = [row for row in rows.values() if row.state is DocumentState.INDEXED and row.extractor != "memory"]
        if not walk.entries and held and not options.prune:
            self._missing(root, f"{root.folder} is suddenly empty")
            return None
        plan = compare(
            entries, rows, retry_failed=options.retry_failed, force=options.force, version_of=self._version_of
        )
        return self._protect(plan, entries)

    def _missing(self, root: Root, reason: str) -> None:
        self._tally.unavailable.append(root.collection)
        self._tally.warn(f"collection {root.collection}: {reason}; its documents are kept (`--prune` deletes them)")

    def _unavailable(self, roots: list[Root]) -> SourceUnavailable:
        reasons = "; ".join(warning for warning in self._tally.warnings if warning.startswith("collection "))
        folder = roots[0].folder
        return SourceUnavailable(
            reasons or f"{folder} is not available",
            hint=f"Bring {folder} back and sync again, or sync with --prune to delete what it held.",
        )

    def _protect(self, plan: Plan, entries: list[Found | LeftOut]) -> Plan:
        """Keep documents below folders that could not be read: not seen is not gone."""
        blind = tuple(one.path for one in entries if isinstance(one, LeftOut) and one.failed and one.path.endswith("/"))
        if blind:
            kept = [row for row in plan.gone if row.path.startswith(blind)]
            plan.gone = [row for row in plan.gone if not row.path.startswith(blind)]
            plan.unchanged += kept
        return plan

    def _settle(self, root: Root, plan: Plan, survey: Survey) -> None:
        self._tally.unchanged += sum(1 for row in plan.unchanged if row.state is DocumentState.INDEXED)
        survey.forget += plan.stale_rows
        if plan.known_failures:
            names = ", ".join(row.path for row in plan.known_failures[:3])
            more = f" and {len(plan.known_failures) - 3} more" if len(plan.known_failures) > 3 else ""
            count = len(plan.known_failures)
            self._tally.warn(f"{count} file(s) failed before and have not changed: {names}{more} (--retry tries again)")
        for left, row in plan.left_out:
            self._leave_out(root, left, row, survey)
        for row in plan.unchanged:
            if row.state is DocumentState.SKIPPED:
                problem = FileProblem(
                    path=row.path, collection=row.collection, code=row.code or "", reason=row.reason or ""
                )
                self._tally.skipped.append(problem)

    def _leave_out(self, root: Root, left: LeftOut, row: DocumentRow | None, survey: Survey) -> None:
        problem = FileProblem(path=left.path, collection=root.collection, code=left.code, reason=left.reason)
        if left.failed:
            self._tally.failed.append(problem)
            self._events(DocumentFailed(collection=root.collection, path=left.path, code=left.code, reason=left.reason))
            if row is not None and row.state is DocumentState.INDEXED:
                # It cannot be read now, but nothing says that it changed: what is indexed stays.
                return
            state = DocumentState.FAILED
        else:
            self._tally.skipped.append(problem)
            state = DocumentState.SKIPPED
        if row is not None and row.state is state and row.code == left.code and row.reason == left.reason:
            return
        if not left.failed:
            self._events(
                DocumentSkipped(collection=root.collection, path=left.path, code=left.code, reason=left.reason)
            )
        if row is not None and row.state is DocumentState.INDEXED:
            survey.remove.append(row)
        survey.record.append(
            DocumentRow(
                id=document_id(root.collection, left.path, ""),
                collection=root.collection,
                path=left.path,
                state=state,
                code=left.code,
                reason=left.reason,
                attempted_at=self._now,
            )
        )
        if row is not None and row.state is not DocumentState.INDEXED:
            survey.forget.append(row)

    def _hashed(
        self, root: Root, candidates: list[Candidate], survey: Survey, cancel: CancelToken, *, force: bool
    ) -> Iterator[ToRead]:
        for candidate in candidates:
            cancel.check()
            found, row = candidate.found, candidate.row
            try:
                digest = _sha256(found.file)
            except OSError as error:
                self._unreadable(root, found, row, error, survey)
                continue
            if row is not None and _holds_chunks(row) and row.sha256 == digest and not force:
                self._tally.unchanged += 1
                survey.record.append(
                    replace(
                        row, mtime_ns=found.mtime_ns, size=found.size, raw_path=found.raw_path, attempted_at=self._now
                    )
                )
                continue
            if row is not None and not _holds_chunks(row):
                survey.forget.append(row)
            yield ToRead(found=found, row=self._row(root, found, row, digest), known=_holds_chunks(row))

    def _row(self, root: Root, found: Found, row: DocumentRow | None, digest: str) -> DocumentRow:
        identity = (
            row.id if row is not None and _holds_chunks(row) else document_id(root.collection, found.path, digest)
        )
        return DocumentRow(
            id=identity,
            collection=root.collection,
            path=found.path,
            state=DocumentState.INDEXED,
            size=found.size,
            mtime_ns=found.mtime_ns,
            sha256=digest,
            raw_path=found.raw_path,
            attempted_at=self._now,
            indexed_at=self._now,
        )

    def _unreadable(self, root: Root, found: Found, row: DocumentRow | None, error: OSError, survey: Survey) -> None:
        if isinstance(error, FileNotFoundError):
            # It vanished since the walk; the next sync sees it gone.
            if row is not None and row.state is DocumentState.INDEXED:
                survey.remove.append(row)
            return
        reason = f"cannot be read: {error.strerror or type(error).__name__}"
        left = LeftOut(path=found.path, code="extract.not_readable", reason=reason, failed=True)
        self._leave_out(root, left, row, survey)

    def _relocated(self, old: DocumentRow, new: DocumentRow) -> DocumentRow:
        return replace(
            old,
            collection=new.collection,
            path=new.path,
            raw_path=new.raw_path,
            size=new.size,
            mtime_ns=new.mtime_ns,
            attempted_at=self._now,
        )

    def _version_of(self, row: DocumentRow) -> str | None:
        return self._reader.version(row.path, row.media_type)

    def _distinct_ids(self, survey: Survey) -> None:
        """Give a new file an id of its own where a moved document still holds the one it would get."""
        taken = {row.id for _, row in survey.moved}
        for index, one in enumerate(survey.to_read):
            if one.known:
                taken.add(one.row.id)
                continue
            salt = 0
            row = one.row
            while row.id in taken or self._held_elsewhere(row):
                salt += 1
                row = replace(row, id=document_id(row.collection, f"{one.row.path}\x00{salt}", row.sha256))
            taken.add(row.id)
            survey.to_read[index] = replace(one, row=row)

    def _held_elsewhere(self, row: DocumentRow) -> bool:
        other = self._ledger.row(row.id)
        return other is not None and (other.collection, other.path) != (row.collection, row.path)


def _holds_chunks(row: DocumentRow | None) -> bool:
    return row is not None and row.state is DocumentState.INDEXED


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open(file, "rb", buffering=0) as handle:
        while block := handle.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
