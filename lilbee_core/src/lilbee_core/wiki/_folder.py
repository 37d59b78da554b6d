"""`WikiFolder`: the pages as files, their index, their log, drafts and what was retired."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from lilbee_core.errors import WikiError
from lilbee_core.text import fold_space
from lilbee_core.wiki._markdown import StoredPage, parsed, plain

FOLDERS: Mapping[str, str] = {"concept": "concepts", "entity": "entities", "synthesis": "synthesis"}
"""The folder of each kind of page."""
DRAFTS, ARCHIVE, INDEX, LOG = "drafts", "archive", "index.md", "log.md"
_TITLES = {"concept": "Concepts", "entity": "Entities", "synthesis": "Topics"}


class WikiFolder:
    """Reads and writes the folder. One writer at a time; people may edit, rename and delete files meanwhile."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def pages(self) -> dict[str, StoredPage]:
        """Return the published pages by the names of their files."""
        return {
            file.stem: parsed(file.stem, kind, _read(file))
            for kind, folder in FOLDERS.items()
            for file in self._files(folder)
        }

    def drafts(self) -> dict[str, StoredPage]:
        """Return the drafts by their names."""
        return {file.stem: parsed(file.stem, "", _read(file)) for file in self._files(DRAFTS)}

    def write(self, kind: str, slug: str, text: str) -> Path:
        """Write a published page."""
        name = f"{slug}.md"
        file = _write(self.root / FOLDERS[kind] / name, text)
        for folder in FOLDERS.values():
            if folder != FOLDERS[kind]:  # it was of another kind before
                _delete(self.root / folder / name)
        return file

    def write_draft(self, slug: str, text: str) -> Path:
        """Write a draft, beside the page of its name, which stays."""
        return _write(self.root / DRAFTS / f"{slug}.md", text)

    def remove_draft(self, slug: str) -> None:
        """Delete a draft, if there is one."""
        _delete(self.root / DRAFTS / f"{slug}.md")

    def archive(self, slug: str) -> None:
        """Retire a page; an older one of its name there is replaced."""
        for folder in FOLDERS.values():
            file = self.root / folder / f"{slug}.md"
            if file.exists():
                _write(self.root / ARCHIVE / file.name, _read(file))
                _delete(file)

    def _files(self, folder: str) -> list[Path]:
        """Return the pages of a folder. A link that leads out of the wiki is none: anything could be read by it."""
        inside = self.root.resolve()
        return sorted(
            file
            for file in (self.root / folder).glob("*.md")
            if file.is_file() and (not file.is_symlink() or file.resolve().is_relative_to(inside))
        )

    @property
    def has_index(self) -> bool:
        """Whether there is a list of all pages."""
        return (self.root / INDEX).exists()

    def write_index(self) -> None:
        """Write the list of all pages, by kind; it is left alone where it is right already."""
        pages = self.pages()
        lines = ["# Index", ""]
        for kind, title in _TITLES.items():
            of_kind = sorted((one for one in pages.values() if one.kind == kind), key=lambda one: one.title.casefold())
            if of_kind:
                lines += [f"## {title}", "", *(f"- {link(one.slug, one.title)}" for one in of_kind), ""]
        text = "\n".join(lines)
        file = self.root / INDEX
        if not self.has_index or _read(file) != text:
            _write(file, text)

    def log(self, when: str, what: str) -> None:
        """Append a line to the log."""
        file = self.root / LOG
        before = _read(file) if file.exists() else "# Log\n\n"
        _write(file, f"{before}- {when} {what}\n")


def link(slug: str, title: str) -> str:
    """Return a link to a page, as Obsidian and others read it."""
    shown = "".join(char for char in fold_space(title) if char not in "[]|")
    return f"[[{slug}|{shown}]]" if shown and shown != slug else f"[[{slug}]]"


def listed(names: Iterable[str]) -> str:
    """Return names of things in one line."""
    return ", ".join(map(plain, names))


def summary(what: str, written: Sequence[str], drafted: Sequence[str], removed: Sequence[str]) -> str:
    """Return what a build or another change did, in one line."""
    done = ((written, "written"), (drafted, "drafted"), (removed, "archived"))
    return f"{what}: " + ", ".join(f"{len(names)} {word}" for names, word in done if names)


def _read(file: Path) -> str:
    try:
        # What is no UTF-8 is written back as it was.
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError as error:
        raise WikiError(f"{file} cannot be read: {error.strerror or error}", hint="Check its permissions.") from error


def _delete(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        raise WikiError(
            f"{file} cannot be deleted: {error.strerror or error}", hint="Check its permissions."
        ) from error


def _write(file: Path, text: str) -> Path:
    """Write a file in one step: killed anywhere, it is as before or as it shall be."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
        os.replace(temporary, file)
    except OSError as error:
        raise WikiError(
            f"{file} cannot be written: {error.strerror or error}", hint="Check its folder and the free space."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return file
