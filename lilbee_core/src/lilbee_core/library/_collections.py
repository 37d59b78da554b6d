"""The collections of a library: named folders with globs."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

from lilbee_core.arguments import checked
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.library._graphing import count_graph
from lilbee_core.library._home import free_name
from lilbee_core.library._parts import Parts
from lilbee_core.library._uploads import keep_upload, remove_upload
from lilbee_core.settings import CollectionSettings, change_config, validated_collection
from lilbee_core.types import WIKI, CollectionInfo, DocumentState, Filter

_Configured: TypeAlias = list[CollectionSettings]
_GLOB_SIGNS = "\\*?[]!# "


@checked
class Collections:
    """Lists, adds, removes and renames collections. Changes are written to ``config.toml``."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self) -> tuple[CollectionInfo, ...]:
        """Return all collections: folders, and those that hold documents from memory."""
        store = self._parts.store
        counts: Counter[str] = Counter()
        for (collection, state), count in store.counts().items():
            if state in (DocumentState.INDEXED, DocumentState.MISSING) and collection != WIKI:
                counts[collection] += count
        found = [
            CollectionInfo(
                name=root.collection,
                root=str(root.folder),
                include=root.include,
                exclude=root.exclude,
                documents=counts.pop(root.collection, 0),
                available=root.folder.is_dir(),
            )
            for root in self._parts.roots()
        ]
        found += [CollectionInfo(name=name, root="", documents=count) for name, count in sorted(counts.items())]
        return tuple(found)

    def get(self, name: str) -> CollectionInfo | None:
        """Return a collection by name, or None."""
        return next((one for one in self.list() if one.name == name), None)

    def states(self, name: str | None = None) -> Mapping[str, int]:
        """Return how many documents are in each state, in one collection or in all, without reading their rows.

        Raises:
            NotFound: If there is no such collection.
        """
        found = dict.fromkeys((str(state) for state in DocumentState), 0)
        counts = self._parts.store.counts()
        if name is not None and not any(one == name for one, _ in counts) and self.get(name) is None:
            raise self._unknown(name)
        for (collection, state), count in counts.items():
            if collection == name or (name is None and collection != WIKI):
                found[str(state)] += count
        return found

    def add(
        self, path: str | Path, *, name: str | None = None, include: Sequence[str] = (), exclude: Sequence[str] = ()
    ) -> CollectionInfo:
        """Make a folder a collection. It is read by the next sync; nothing is copied.

        Raises:
            NotFound: If the folder does not exist.
            InvalidArgument: If the name is taken.
        """
        folder = Path(os.path.abspath(Path(path).expanduser()))
        if not folder.is_dir():
            raise NotFound(f"there is no folder {folder}", hint="Check the path.")
        with self._changing() as configured:
            chosen = name or _free_name(folder.name or "files", configured)
            if any(one.name == chosen for one in configured):
                raise InvalidArgument(
                    f"there is a collection {chosen!r} already", hint="Choose another name with --name."
                )
            configured.append(_entry(chosen, self._relative(folder), include, exclude))
        return CollectionInfo(
            name=chosen, root=str(Path(os.path.realpath(folder))), include=tuple(include), exclude=tuple(exclude)
        )

    def add_file(self, file: Path) -> str:
        """Make a single file a collection of its own and return the collection's name."""
        pattern = "/" + "".join("\\" + sign if sign in _GLOB_SIGNS else sign for sign in file.name)
        with self._changing() as configured:
            name = _free_name(file.stem or "file", configured)
            configured.append(_entry(name, self._relative(file.parent), (pattern,), ()))
        return name

    def add_web(self) -> str:
        """Make sure that the pages of the web are a collection, and return its name."""
        return self._own(self._parts.home.web_dir)

    def upload(self, file: str | Path, name: str) -> str:
        """Keep a file that came from elsewhere: move it into the collection of uploads, and return its path there.

        It is read by the next sync. A file of the same name is replaced.

        Raises:
            InvalidArgument: If the name cannot be a file's.
            NotFound: If there is no such file, or it cannot be read.
            UnsupportedFormat: If nothing here reads such a file.
        """
        target = keep_upload(self._parts, Path(file), name)
        self._own(target.parent)
        return str(target)

    def remove_upload(self, name: str) -> str:
        """Delete an uploaded file, and return the collection that has to be synced for it.

        Raises:
            NotFound: If there is none of this name.
        """
        remove_upload(self._parts, name)
        return self._own(self._parts.home.uploads_dir)

    def _own(self, folder: Path) -> str:
        """Make sure that a folder of lilbee's own is a collection, and return its name."""
        known = self._parts.home.collection_of(folder, self._parts.settings)
        if known is not None:
            return known
        folder.mkdir(parents=True, exist_ok=True)
        with self._changing() as configured:
            name = _free_name(folder.name, configured)
            configured.append(_entry(name, self._below_base(folder), (), ()))
        return name

    def remove(self, name: str) -> int:
        """Forget a collection and take its documents out of the index; return how many there were.

        Raises:
            NotFound: If there is no such collection.
            InvalidArgument: If it is the only one of a library in a folder: the next sync would read that anew.
        """
        with self._changing() as configured:
            rows = list(self._parts.store.rows(collection=name))
            if not rows and not any(one.name == name for one in configured):
                raise self._unknown(name)
            kept = [one for one in configured if one.name != name]
            if not kept and self._parts.home.root is not None:
                raise InvalidArgument(
                    f"{name!r} is the only collection of this library: the next sync would read its folder again",
                    hint="Keep files out with `lilbee remove PATH` or .lilbeeignore, or add another collection first.",
                )
            configured[:] = kept
            self._parts.store.remove([row.id for row in rows])
            count_graph(self._parts)
        return sum(row.holds_chunks for row in rows)

    def rename(self, old: str, new: str) -> None:
        """Give a collection another name; its documents keep their identity and vectors.

        Raises:
            NotFound: If there is no collection `old`.
            InvalidArgument: If `new` is taken or not allowed.
        """
        _entry(new, ".", (), ())
        with self._changing() as configured:
            rows = list(self._parts.store.rows(collection=old))
            if not rows and not any(one.name == old for one in configured):
                raise self._unknown(old)
            if any(one.name == new for one in configured) or next(self._parts.store.rows(collection=new), None):
                raise InvalidArgument(f"there is a collection {new!r} already", hint="Choose another name.")
            self._parts.ingestor.rename_collection(rows, new)
            configured[:] = [one.model_copy(update={"name": new}) if one.name == old else one for one in configured]

    def filter(self, *names: str) -> Filter:
        """Return a filter for these collections.

        Raises:
            NotFound: If one does not exist.
        """
        known = {one.name for one in self.list()}
        for name in names:
            if name not in known:
                raise self._unknown(name)
        return replace(Filter(), collections=names)

    # ------------------------------------------------------------------ inside

    @contextmanager
    def _changing(self) -> Generator[_Configured]:
        """Give the collections to be changed, as they are in the file now, and write them if they were."""
        home = self._parts.home
        home.claim()
        with self._parts.store.writing():
            self._parts.reconfigure()
            before = list(self._parts.settings.collections or home.implicit(self._parts.own_name))
            after = list(before)
            yield after
            if after != before:
                change_config(home.config_file, {"collections": [one.model_dump() for one in after]})
                given = self._parts.given_settings
                self._parts.reconfigure(replace(given, collections=tuple(after)) if given is not None else None)
                self._parts.remember_own_name()

    def _relative(self, folder: Path) -> str:
        root = self._parts.home.root
        if root is not None and Path(os.path.realpath(folder)) == Path(os.path.realpath(root)):
            return "."
        return str(folder)

    def _below_base(self, folder: Path) -> str:
        """Return a path that stays right when the library is moved as a whole, where there is one."""
        base = self._parts.home.base
        return folder.relative_to(base).as_posix() if folder.is_relative_to(base) else str(folder)

    def _unknown(self, name: str) -> NotFound:
        known = ", ".join(one.name for one in self.list()) or "none"
        return NotFound(f"there is no collection {name!r} (there is: {known})", hint="Run `lilbee collection list`.")


def _free_name(wanted: str, configured: Sequence[CollectionSettings]) -> str:
    return free_name(wanted.strip(". ") or "files", {one.name for one in configured})


def _entry(name: str, path: str, include: Sequence[str], exclude: Sequence[str]) -> CollectionSettings:
    return validated_collection({"name": name, "path": path, "include": tuple(include), "exclude": tuple(exclude)})
