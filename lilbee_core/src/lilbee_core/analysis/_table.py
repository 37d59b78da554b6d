"""What units become in the index, worked out once each: text repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lilbee_core.analysis._compounds import LANGUAGES as COMPOUNDING
from lilbee_core.analysis._compounds import tails
from lilbee_core.analysis._function_words import function_words
from lilbee_core.analysis._stems import Stems
from lilbee_core.analysis._units import MARKER, Word, split_token, split_unit, unit_pattern

_MOST_UNITS = 80_000
_MOST_CHARS = 16_000_000


class Budget:
    """Bounds the memory of all tables that share it: when it is spent, they start again empty."""

    def __init__(self) -> None:
        self._tables: list[Table] = []
        self._units = 0
        self._chars = 0

    def join(self, table: Table) -> None:
        self._tables.append(table)

    def spend(self, chars: int) -> None:
        self._units += 1
        self._chars += chars
        if self._units > _MOST_UNITS or self._chars > _MOST_CHARS:
            self._units = self._chars = 0
            for table in self._tables:
                table.clear()


class _Lookup(dict[str, str]):
    """A dict that works out what it does not have. Looking up through `map` stays in C as long as it has it."""

    __slots__ = ("_fill",)

    def __init__(self, fill: Callable[[str], str]) -> None:
        super().__init__()
        self._fill = fill

    def __missing__(self, unit: str) -> str:
        return self._fill(unit)


class Table:
    """The exact and the marked tokens of every unit seen, for texts in one language."""

    def __init__(self, language: str, stems: Stems, budget: Budget) -> None:
        self._stems = stems.table(language)
        self._budget = budget
        self._compounds = language in COMPOUNDING
        self._silent = function_words().get(language, frozenset())
        self._exact = _Lookup(lambda unit: self._learn(unit)[0])
        self._marked = _Lookup(lambda unit: self._learn(unit)[1])
        budget.join(self)

    def clear(self) -> None:
        self._exact.clear()
        self._marked.clear()

    def tokens(self, text: str) -> tuple[str, str]:
        """Return the exact and the marked tokens of `text`, each joined by blanks."""
        units = unit_pattern(text).findall(text)
        exact = " ".join(filter(None, map(self._exact.__getitem__, units)))
        return exact, " ".join(filter(None, map(self._marked.__getitem__, units)))

    def having(self, units: Iterable[str], terms: frozenset[str]) -> set[str]:
        """Return those of the units that have one of the terms among their tokens."""
        exact, marked, lack = self._exact, self._marked, terms.isdisjoint
        return {unit for unit in units if not (lack(exact[unit].split()) and lack(marked[unit].split()))}

    def _learn(self, text: str) -> tuple[str, str]:
        unit = split_unit(text)
        if unit.tokens == (text,):
            word = split_token(text)
            exact, marked = " ".join(word.exact), self._other_forms(word)
        else:
            exact = " ".join(filter(None, [self._exact[token] for token in unit.tokens]))
            forms = [self._marked[token] for token in unit.tokens]
            forms += [MARKER + self._stems[join] for join in unit.joins]
            forms += [MARKER + whole for whole in unit.wholes]
            marked = " ".join(filter(None, forms))
        self._exact[text] = exact
        self._marked[text] = marked
        self._budget.spend(len(text) + len(exact) + len(marked))
        return exact, marked

    def _other_forms(self, word: Word) -> str:
        """Join the stem, unless it is a function word's, which no query asks for, and what unusual words have."""
        stem = self._stems[word.stemmed] if word.stemmed and word.stemmed not in self._silent else ""
        if not (word.parts or word.accented or word.letters or self._compounds):
            return stem and MARKER + stem
        forms = [MARKER + stem] if stem else []
        if self._compounds and not word.parts:
            forms += [MARKER + tail for tail in tails(stem)]
        forms += [MARKER + self._stems[part] for part in word.parts if part not in self._silent]
        if word.spelled:
            forms.append(MARKER + self._stems[word.spelled])
        if word.accented:
            forms.append(MARKER + word.accented)
        return " ".join([*dict.fromkeys(forms), *[MARKER + letter for letter in word.letters]])
