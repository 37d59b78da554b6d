"""Which files are left out: built-in rules, settings, ``.gitignore`` and ``.lilbeeignore`` at every depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

IGNORE_FILES = (".gitignore", ".lilbeeignore")

DEFAULT_IGNORES = (
    ".git/", ".hg/", ".svn/", ".jj/",
    "node_modules/", "bower_components/",
    "__pycache__/", "*.py[co]", ".mypy_cache/", ".ruff_cache/", ".pytest_cache/", ".hypothesis/", ".tox/", ".nox/",
    ".venv/", ".ipynb_checkpoints/", "*.egg-info/",
    ".DS_Store", "Thumbs.db", "desktop.ini", "$RECYCLE.BIN/", ".Trash*/", ".Spotlight-V100/", ".fseventsd/",
    "~$*", ".~lock.*#", "*.swp", "*~", "*.part", "*.crdownload",
    "*.o", "*.so", "*.dylib", "*.dll", "*.exe", "*.class", "*.pyd", "*.a", "*.lib",
)  # fmt: skip
"""Left out everywhere unless ``default_ignores = false`` or an ignore file takes one back (``!venv/``)."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern and where it comes from."""

    pattern: str
    origin: str

    def __str__(self) -> str:
        return f"{self.pattern} ({self.origin})"


@dataclass(frozen=True, slots=True)
class Layer:
    """The patterns of one ignore file; they hold below `folder`."""

    folder: str
    spec: GitIgnoreSpec
    origin: str

    def match(self, path: str, is_dir: bool) -> tuple[bool, Rule] | None:
        """Return (ignored, rule) if a pattern decides about `path`, the last one winning."""
        relative = path[len(self.folder) + 1 :] if self.folder else path
        result = self.spec.check_file(relative + "/" if is_dir else relative)
        if result.include is None or result.index is None:
            return None
        pattern = str(getattr(self.spec.patterns[result.index], "pattern", ""))
        return result.include, Rule(pattern, self.origin)


class IgnoreRules:
    """The layers that hold in one folder. Later layers (deeper files) override earlier ones, as in git."""

    __slots__ = ("_layers",)

    def __init__(self, layers: Sequence[Layer] = ()) -> None:
        self._layers = tuple(layers)

    @classmethod
    def base(cls, *, defaults: bool, extra: Sequence[str]) -> IgnoreRules:
        """Return the rules that hold at a collection's root."""
        layers = []
        if defaults:
            layers.append(Layer("", _spec(DEFAULT_IGNORES), "built in"))
        if extra:
            layers.append(Layer("", _spec(extra), "settings"))
        return cls(layers)

    def entered(self, directory: Path, folder: str, names: Sequence[str]) -> IgnoreRules:
        """Return the rules inside `folder`, with the ignore files called `names` that lie there."""
        found = []
        for name in names:
            try:
                lines = (directory / name).read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                continue
            origin = f"{folder}/{name}" if folder else name
            found.append(Layer(folder, _spec(lines), origin))
        return IgnoreRules((*self._layers, *found)) if found else self

    def decide(self, path: str, *, is_dir: bool) -> Rule | None:
        """Return the rule that leaves `path` out, or None."""
        for layer in reversed(self._layers):
            verdict = layer.match(path, is_dir)
            if verdict is not None:
                return verdict[1] if verdict[0] else None
        return None


class Globs:
    """Include and exclude globs of a collection, gitignore-style, relative to its root."""

    __slots__ = ("_exclude", "_include", "_texts")

    def __init__(self, include: Sequence[str], exclude: Sequence[str]) -> None:
        self._include = _spec(include) if include else None
        self._exclude = _spec(exclude) if exclude else None
        self._texts = (tuple(include), tuple(exclude))

    def decide(self, path: str) -> Rule | None:
        """Return why the globs leave the file `path` out, or None."""
        if self._exclude is not None and self._exclude.match_file(path):
            return Rule(", ".join(self._texts[1]), "exclude globs of the collection")
        if self._include is not None and not self._include.match_file(path):
            return Rule(", ".join(self._texts[0]), "include globs of the collection")
        return None

    def prunes(self, folder: str) -> Rule | None:
        """Return why nothing below `folder` can be wanted, or None."""
        if self._exclude is not None and self._exclude.match_file(folder + "/"):
            return Rule(", ".join(self._texts[1]), "exclude globs of the collection")
        return None


def _spec(patterns: Sequence[str]) -> GitIgnoreSpec:
    from pathspec import GitIgnoreSpec

    usable = []
    for pattern in patterns:
        try:
            GitIgnoreSpec.from_lines([pattern])
        except ValueError:
            # A broken line in somebody's ignore file must not stop the walk; git skips it too.
            continue
        usable.append(pattern)
    return GitIgnoreSpec.from_lines(usable)
