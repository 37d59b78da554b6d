"""Why a path is, or is not, in the index."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lilbee_core.ingest._ignore import Globs
from lilbee_core.ingest._names import escaped, shown, unescaped
from lilbee_core.ingest._plan import UNREAD
from lilbee_core.ingest._walk import Root, WalkOptions, ignored_by
from lilbee_core.protocols import Ledger
from lilbee_core.types import UNREAD_PAGES, DocumentRow, DocumentState, PathReport, hint_for


def explain(path: Path, roots: Sequence[Root], ledger: Ledger, options: WalkOptions) -> PathReport:
    """Return the state of `path` with the rule that decided it."""
    found = _holding(Path(os.path.abspath(path)), roots)
    if found is None:
        return PathReport(
            path=str(path),
            state="outside",
            code="outside",
            reason="the path lies in no collection of this library",
            hint=f"Run `lilbee add {path}` to add it.",
        )
    absolute, folder, root = found
    if absolute == folder:
        return PathReport(path=".", state="folder", reason="the folder of the collection", collection=root.collection)
    return _inside(absolute, folder, root, ledger, options)


def _holding(absolute: Path, roots: Sequence[Root]) -> tuple[Path, Path, Root] | None:
    """Return the path, the folder and the collection that it belongs to: the deepest one that lets it in."""
    holding: list[tuple[bool, int, Path, Path, Root]] = []
    for root in roots:
        folder = Path(os.path.realpath(root.folder))
        for candidate in (absolute, Path(os.path.realpath(absolute.parent)) / absolute.name):
            if candidate == folder or candidate.is_relative_to(folder):
                chosen = not root.include or Globs(root.include, ()).decide(_relative(candidate, folder)) is None
                holding.append((chosen, len(folder.parts), candidate, folder, root))
                break
    if not holding:
        return None
    _, _, candidate, folder, root = max(holding, key=lambda one: one[:2])
    return candidate, folder, root


def _relative(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix()


def _inside(absolute: Path, folder: Path, root: Root, ledger: Ledger, options: WalkOptions) -> PathReport:
    raw = _relative(absolute, folder)
    name = shown(raw)
    row = _row_of(raw, name, root, ledger)
    if row is not None and row.state is not DocumentState.SKIPPED:
        told: PathReport | None = _from_row(name, row)
    else:
        told = _excluded_with_folder(name, root, ledger, is_folder=os.path.isdir(absolute))
    if told is not None:
        return told
    decided = _by_rules(raw, folder, root, options)
    if decided is not None:
        rule, owner = decided
        return PathReport(
            path=name,
            state="skipped",
            code="ignored",
            reason=f"ignored by {rule}" + (f", which matches {owner}" if owner != name else ""),
            rule=str(rule),
            collection=root.collection,
            hint=hint_for("ignored"),
        )
    if row is not None:
        return _from_row(name, row)
    if not os.path.lexists(absolute):
        return PathReport(
            path=name, state="absent", code="absent", reason="there is no such file", collection=root.collection
        )
    if os.path.isdir(absolute):
        return PathReport(
            path=name,
            state="folder",
            reason="a folder of the collection; its files are read",
            collection=root.collection,
        )
    return PathReport(
        path=name,
        state="new",
        code="new",
        reason="not seen by a sync yet",
        collection=root.collection,
        hint="Run `lilbee sync`.",
    )


def _excluded_with_folder(name: str, root: Root, ledger: Ledger, *, is_folder: bool) -> PathReport | None:
    """Return what is said of a path that was removed with its folder, or is a folder that was removed."""
    parts = name.split("/")
    for depth in range(1, len(parts) + is_folder):
        folder = "/".join(parts[:depth]) + "/"
        row = ledger.find(root.collection, folder)
        if row is not None and row.state is DocumentState.EXCLUDED:
            report = _from_row(name, row)
            same = depth == len(parts)
            return report if same else replace(report, reason=f"its folder {folder} was removed on request")
    return None


def _row_of(raw: str, name: str, root: Root, ledger: Ledger) -> DocumentRow | None:
    """Return the ledger row of a file by its exact name; a twin that is shown alike is another file."""
    row = ledger.find(root.collection, name)
    if row is not None and (unescaped(row.raw_path) if row.raw_path else row.path) in (raw, raw + "/"):
        return row
    exact = escaped(raw)
    ids = [stamp.id for stamp in ledger.stamps(root.collection) if stamp.raw_path == exact] if raw != name else []
    return next(iter(ledger.rows_of(ids).values()), None)


def _from_row(name: str, row: DocumentRow) -> PathReport:
    unread = row.metadata.get(UNREAD_PAGES)
    rest = f"; pictures on {unread} page(s) were not read" if unread else ""
    chunks = f"{row.chunks} {'chunk' if row.chunks == 1 else 'chunks'}"
    reason = row.reason or f"indexed, {chunks}, read by {row.extractor.removesuffix(UNREAD)}{rest}"
    return PathReport(
        path=name,
        state=str(row.state),
        code=row.code,
        reason=reason,
        collection=row.collection,
        document_id=row.id,
        hint=row.hint or None,
    )


def _by_rules(raw: str, folder: Path, root: Root, options: WalkOptions) -> tuple[object, str] | None:
    """Return the rule that leaves the path or one of its folders out, and what it matches."""
    is_folder = os.path.isdir(folder / raw)
    decided = ignored_by(raw, str(folder), options, is_folder=is_folder)
    if decided is not None:
        return decided[0], shown(decided[1])
    globs = Globs(root.include, root.exclude)
    rule = globs.prunes(raw) if is_folder else globs.decide(raw)
    return (rule, shown(raw) + ("/" if is_folder else "")) if rule is not None else None
