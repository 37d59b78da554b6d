"""Which collections a changed path concerns: those that would read it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from lilbee_core.ingest._ignore import Globs, IgnoreRules
from lilbee_core.ingest._walk import Root, WalkOptions, is_below


@dataclass(slots=True)
class _Ground:
    """A collection, with the rules of its folders as far as they were needed; None for what is left out."""

    root: Root
    globs: Globs
    rules: dict[str, IgnoreRules | None] = field(default_factory=dict[str, IgnoreRules | None])


class Concerned:
    """Knows the rules of some collections as they are now. Make it anew for each burst: ignore files change, too."""

    def __init__(self, roots: Sequence[Root], options: WalkOptions) -> None:
        self._options = options
        self._grounds = [_Ground(root, Globs(root.include, root.exclude)) for root in roots]

    def collections(self, paths: Iterable[str]) -> frozenset[str]:
        """Return the collections that any of the paths concerns; the rest is not asked about."""
        left = list(self._grounds)
        found: set[str] = set()
        for path in paths:
            for ground in [one for one in left if self._concerns(one, path)]:
                found.add(ground.root.collection)
                left.remove(ground)
            if not left:
                break
        return frozenset(found)

    def _concerns(self, ground: _Ground, path: str) -> bool:
        folder = str(ground.root.folder)
        if path == folder or not is_below(path, folder):
            return False
        if any(is_below(path, str(own)) for own in ground.root.own):
            return False
        raw = path[len(folder.rstrip(os.sep)) + 1 :].replace(os.sep, "/")
        parent, _, name = raw.rpartition("/")
        rules = self._rules(ground, parent)
        if rules is None:
            return False
        if name in self._options.ignore_files:
            return True  # what it says is read by the next sync
        is_folder = os.path.isdir(path)
        # Of what is gone nobody knows any more whether it was a folder.
        may_be_file, may_be_folder = not is_folder, is_folder or not os.path.lexists(path)
        as_file = may_be_file and rules.decide(raw, name, is_folder=False) is None and ground.globs.decide(raw) is None
        return as_file or (
            may_be_folder and rules.decide(raw, name, is_folder=True) is None and ground.globs.prunes(raw) is None
        )

    def _rules(self, ground: _Ground, folder: str) -> IgnoreRules | None:
        """Return the rules inside a folder, None if it is left out itself."""
        if folder not in ground.rules:
            ground.rules[folder] = self._entered(ground, folder)
        return ground.rules[folder]

    def _entered(self, ground: _Ground, folder: str) -> IgnoreRules | None:
        if folder:
            above, _, name = folder.rpartition("/")
            rules = self._rules(ground, above)
            if rules is None or rules.decide(folder, name, is_folder=True) is not None:
                return None
            if ground.globs.prunes(folder) is not None:
                return None
        else:
            rules = self._options.rules()
        return rules.entered(os.path.join(ground.root.folder, folder), folder, self._options.ignore_files)
