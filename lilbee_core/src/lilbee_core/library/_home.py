"""Where a library lies: its folder, its data, its collections, and whose it is."""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import LibraryError, NotFound
from lilbee_core.ingest import Root
from lilbee_core.settings import (
    DATA_FOLDER,
    CollectionSettings,
    Settings,
    change_config,
    is_trusted,
    load_settings,
    new_library_id,
    read_config,
    trust,
    user_data_dir,
)

_WEB, _CRAWL, _UPLOADS = "web", ".crawl", "uploads"


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return a name for a collection that is not taken: the wanted one, or that with a number."""
    names = (wanted, *(f"{wanted}-{number}" for number in range(2, len(taken) + 3)))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True, slots=True)
class Home:
    """The places of one library. `root` is None for the user's own library without a folder."""

    root: Path | None
    data_dir: Path

    @classmethod
    def of(cls, path: str | Path | None, data_dir: str | Path | None) -> Home:
        """Return the places for these arguments. Touches no disk."""
        root = Path(os.path.abspath(Path(path).expanduser())) if path is not None else None
        if data_dir is not None:
            return cls(root, Path(os.path.abspath(Path(data_dir).expanduser())))
        return cls(root, root / DATA_FOLDER if root is not None else user_data_dir())

    @property
    def config_file(self) -> Path:
        """The library's own ``config.toml``."""
        return self.data_dir / "config.toml"

    @property
    def web_dir(self) -> Path:
        """Where pages of the web are kept."""
        return self.data_dir / _WEB

    @property
    def uploads_dir(self) -> Path:
        """Where uploaded files are kept."""
        return self.data_dir / _UPLOADS

    def wiki_dir(self, settings: Settings) -> Path:
        """Where the pages of the wiki lie: in the data folder, or where the setting says."""
        name = settings.wiki.wiki_dir
        if name.startswith(("./", "../", "~")) or os.path.isabs(name):
            return Path(os.path.abspath(self.base / Path(name).expanduser()))
        return self.data_dir / name

    @property
    def base(self) -> Path:
        """What relative collection paths are relative to."""
        return self.root or self.data_dir.parent

    def check(self) -> None:
        """Make sure that there is something to open.

        Raises:
            LibraryError: If the path is a file.
            NotFound: If neither the folder nor an index exists.
        """
        if self.root is None or self.root.is_dir() or self.data_dir.is_dir():
            return
        if self.root.exists():
            raise LibraryError(
                f"{self.root} is a file, not a folder",
                hint="Name the folder that holds the documents.",
                code="library.invalid",
            )
        raise NotFound(f"there is no folder {self.root}", hint="Check the path, or create the folder.")

    def prepare(self) -> None:
        """Create the data folder, kept out of version control.

        Raises:
            LibraryError: If it cannot be created.
        """
        self.check()
        marker = self.data_dir / ".gitignore"
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            if not marker.exists() or not marker.stat().st_size:
                marker.write_text("*\n", encoding="utf-8")
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise LibraryError(
                    f"the disk is full: {self.data_dir} cannot be written",
                    hint="free some disk space, then run the command again",
                    code="store.full",
                ) from error
            why = "it lies where nothing can be written" if error.errno == errno.EROFS else error.strerror
            raise LibraryError(
                f"the index cannot be kept in {self.data_dir}: {why}",
                hint="Keep it elsewhere with --data-dir FOLDER (data_dir= in Python).",
                code="store.read_only",
            ) from error

    def settings(self, env: Mapping[str, str] | None, overrides: Mapping[str, object] | None) -> Settings:
        """Load all layers; gated keys of a library that is not the user's own are ignored with a warning."""
        raw = read_config(self.config_file)
        trusted = not raw or is_trusted(self.data_dir, str(raw.get("library_id", "")), env)
        return load_settings(self.config_file if raw else None, env, overrides, trusted=trusted)

    def claim(self) -> str:
        """Make the library the user's own and return its id."""
        self.prepare()
        content = read_config(self.config_file)
        library_id = str(content.get("library_id") or new_library_id())
        if "library_id" not in content:
            change_config(self.config_file, {"library_id": library_id})
        trust(self.data_dir, library_id)
        return library_id

    def roots(self, settings: Settings, own_name: str) -> list[Root]:
        """Return the folders to sync. Without `[[collections]]` that is the library's own folder."""
        configured = settings.collections or self.implicit(own_name)
        folders = {one.name: Path(os.path.realpath(self.base / Path(one.path).expanduser())) for one in configured}
        data, wiki = (Path(os.path.realpath(one)) for one in (self.data_dir, self.wiki_dir(settings)))
        roots: list[Root] = []
        for one in configured:
            folder = folders[one.name]
            nested = tuple(
                folders[other.name]
                for other in configured
                if not other.include and folders[other.name] != folder and folders[other.name].is_relative_to(folder)
            )
            roots.append(
                Root(
                    collection=one.name,
                    folder=folder,
                    include=one.include,
                    exclude=one.exclude,
                    own=(data, data / _WEB / _CRAWL, wiki, *nested),
                )
            )
        return roots

    def web_collection(self, settings: Settings) -> str | None:
        """Return the name of the collection that holds the pages of the web, None as long as there is none."""
        return self.collection_of(self.web_dir, settings)

    def collection_of(self, folder: Path, settings: Settings) -> str | None:
        """Return the name of the collection that is all of a folder, None if there is none."""
        real, roots = os.path.realpath(folder), self.roots(settings, self.folder_name)
        return next((root.collection for root in roots if str(root.folder) == real and not root.include), None)

    @property
    def folder_name(self) -> str:
        """What the own folder is called as a collection, as long as nothing was indexed under another name."""
        name = self.root.name if self.root is not None else ""
        return name if name not in {"", ".", ".."} else "documents"

    def implicit(self, name: str) -> tuple[CollectionSettings, ...]:
        """Return the collection that a library with a folder has by itself."""
        return () if self.root is None else (CollectionSettings(name=name, path="."),)
