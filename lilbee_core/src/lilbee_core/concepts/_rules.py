"""`RuleExtractor`: what chunks talk about, found by rules alone."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from lilbee_core.background import give_way
from lilbee_core.concepts import _code, _unspaced
from lilbee_core.concepts._acronyms import explained
from lilbee_core.concepts._candidates import HEADING, MOST, Candidates
from lilbee_core.concepts._normal import Normalizer
from lilbee_core.concepts._prose import Prose
from lilbee_core.types import Chunk, Mention

_VERSION = "rules-2"
_LONGEST_HEADING = 80


class RuleExtractor:
    """Names, abbreviations, compounds and phrases of prose in any language; symbols of code. Threads may share it."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._normal = Normalizer()
        self._prose = Prose(self._normal)

    @property
    def fingerprint(self) -> str:
        """Changes whenever the same chunks give other mentions."""
        return f"{_VERSION}/{self._most}"

    def extract(self, chunks: Sequence[Chunk]) -> list[tuple[Mention, ...]]:
        """Return for each chunk its concepts, each once, the most telling first."""
        found: list[tuple[Mention, ...]] = []
        for chunk in chunks:
            give_way()
            with self._lock:
                found.append(self._of(chunk))
        return found

    def _of(self, chunk: Chunk) -> tuple[Mention, ...]:
        found = Candidates()
        if _code.is_code(chunk):
            _code.collect(chunk, found)
            return found.best(most=self._most)
        self._prose.collect(chunk.text, chunk.language, found)
        if not chunk.text.isascii() and _unspaced.HAS_UNSPACED.search(chunk.text):
            _unspaced.collect(chunk.text, found)
        self.complete(chunk, found)
        return found.best(most=self._most)

    def complete(self, chunk: Chunk, found: Candidates) -> None:
        """Add what the heading says, and the abbreviations that the text explains."""
        for short, long_form in explained(chunk.text):
            words = long_form.split()
            is_name = long_form[0].isupper()
            key = self._normal.name_key(words) if is_name else self._normal.key(words, chunk.language)
            found.add(key, long_form, "entity" if is_name else "phrase", 3.0)
            found.explain(self._normal.key([short], "en", name=True), short, key)
        for line in _headings(chunk):
            inside = Candidates()
            self._prose.collect(line, chunk.language, inside, heading=True)
            if not line.isascii() and _unspaced.HAS_UNSPACED.search(line):
                _unspaced.collect(line, inside)
            for one in inside.best(most=3):
                found.add(one.concept, one.surface, one.kind, 2.0)
                found.raise_weight(one.concept, HEADING)


def _headings(chunk: Chunk) -> list[str]:
    lines = dict.fromkeys(filter(None, (chunk.title, chunk.heading)))
    return [line for line in lines if len(line) <= _LONGEST_HEADING]
