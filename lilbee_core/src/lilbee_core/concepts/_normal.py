"""What counts as the same concept: case, accents, plural and possessive do not tell two apart."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lilbee_core.analysis import Stems, fold

_POSSESSIVE = re.compile(r"['’]s?$")
_PLURAL_SHORT = re.compile(r"[A-Z0-9]s$")  # PCs, RNAs, 1990s
_UNCHANGED = frozenset({"series", "species", "news", "always", "perhaps", "lens", "corps", "means", "headquarters"})
_SINGULAR_ENDINGS = ("ss", "us", "is", "as", "ics")
_ES = ("ches", "shes", "sses", "xes", "zes")
_LEAST_PLURAL = 4
_MOST_CACHED = 100_000
# Languages whose plural is not told by a letter at the end; their last word is stemmed.
_STEMMED = frozenset({
    "ar", "ca", "cs", "da", "de", "el", "es", "et", "fi", "fr", "hu", "it", "lt", "nl", "no", "nb", "nn", "pl", "pt",
    "ro", "ru", "sr", "sv", "tr", "hy", "hi",
})  # fmt: skip


class Normalizer:
    """Gives words the form by which concepts are told apart. It keeps caches: one for each thread, or behind a lock."""

    def __init__(self) -> None:
        self._stems = Stems()
        self._last: dict[tuple[str, str], str] = {}

    def key(self, words: Sequence[str], language: str | None, *, name: bool = False) -> str:
        """Return the normalized form of a phrase. Only its last word has a plural to lose.

        A `name` keeps its ending in languages that are stemmed: their stemmers know no names.
        """
        last = self._last_word(words[-1], language if not name or language not in _STEMMED else "")
        if len(words) == 1:
            return last
        return " ".join([*(fold(word) for word in words[:-1]), last])

    def name_key(self, words: Sequence[str]) -> str:
        """Return the normalized form of a name of several words: its plural is a part of it (United States)."""
        return " ".join([*(fold(word) for word in words[:-1]), fold(_POSSESSIVE.sub("", words[-1])) or fold(words[-1])])

    def variants(self, words: Sequence[str], languages: Sequence[str]) -> tuple[str, ...]:
        """Return the forms that a phrase may have in a library of these languages."""
        given = [self.key(words, language) for language in ("en", "", *languages)]
        return tuple(dict.fromkeys(given))

    def _last_word(self, word: str, language: str | None) -> str:
        cached = (word, "en" if language is None else language)
        form = self._last.get(cached)
        if form is None:
            if len(self._last) >= _MOST_CACHED:
                self._last.clear()
            form = self._last[cached] = self._form(word, cached[1])
        return form

    def _form(self, word: str, language: str) -> str:
        bare = fold(_POSSESSIVE.sub("", word)) or fold(word)
        if _PLURAL_SHORT.search(word):
            return bare[:-1]
        if language in _STEMMED:
            return self._stems.table(language)[bare]
        return singular(bare) if language == "en" else bare


def singular(word: str) -> str:
    """Return an English word in lower case without its plural; what is no plural stays as it is."""
    if len(word) < _LEAST_PLURAL or word[-1] != "s" or word in _UNCHANGED or word.endswith(_SINGULAR_ENDINGS):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > _LEAST_PLURAL else word[:-1]
    return word[:-2] if word.endswith(_ES) else word[:-1]
