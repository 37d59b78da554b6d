"""What units become in the index, worked out once each: text repeats itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from lilbee_core.analysis._compounds import LANGUAGES as COMPOUNDING
from lilbee_core.analysis._compounds import tails
from lilbee_core.analysis._function_words import function_words
from lilbee_core.analysis._stems import Stems
from lilbee_core.analysis._units import MARKER, Word, split_token, split_unit, unit_pattern

# Small on purpose: tables that stay in the processor's cache are faster than tables that never forget.
_MOST_UNITS = 30_000
_MOST_CHARS = 6_000_000
_MOST_CUT = 10_000


class Budget:
    """Bounds the memory of all tables that share it: when it is spent, they forget what was not asked for lately."""

    def __init__(self) -> None:
        self.tables: list[Table] = []
        self.units = 0
        self.chars = 0

    def spend(self, chars: int) -> None:
        self.units += 1
        self.chars += chars
        if self.units > _MOST_UNITS or self.chars > _MOST_CHARS:
            self.units = self.chars = 0
            for table in self.tables:
                table.age()


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
        self._exact, self._marked = self._empty()
        self._older = self._exact, self._marked
        self._cut: dict[str, tuple[str, ...]] = {}
        budget.tables.append(self)

    def _empty(self) -> tuple[_Lookup, _Lookup]:
        return _Lookup(lambda unit: self._learn(unit)[0]), _Lookup(lambda unit: self._learn(unit)[1])

    def age(self) -> None:
        """Begin anew, but keep what is known at hand until the next time."""
        self._older = self._exact, self._marked
        self._exact, self._marked = self._empty()

    def tokens(self, text: str) -> tuple[str, str]:
        """Return the exact and the marked tokens of `text`, each joined by blanks."""
        units = unit_pattern(text).findall(text)
        exact = " ".join(filter(None, map(self._exact.__getitem__, units)))
        return exact, " ".join(filter(None, map(self._marked.__getitem__, units)))

    def having(self, units: Iterable[str], terms: frozenset[str]) -> list[str]:
        """Return those of the units that have one of the terms among their tokens."""
        cut, found = self._cut, list[str]()
        for unit in units:
            tokens = cut.get(unit)
            if tokens is None:
                tokens = self._cut_up(unit)
            if not terms.isdisjoint(tokens):
                found.append(unit)
        return found

    def _cut_up(self, unit: str) -> tuple[str, ...]:
        tokens = (*self._exact[unit].split(), *self._marked[unit].split())
        if len(self._cut) >= _MOST_CUT:
            self._cut.clear()
        self._cut[unit] = tokens
        return tokens

    def _learn(self, text: str) -> tuple[str, str]:
        older, older_marked = self._older
        exact, marked = older.get(text), older_marked.get(text)
        if exact is None or marked is None:
            exact, marked = self._work_out(text)
        self._exact[text] = exact
        self._marked[text] = marked
        self._budget.spend(len(exact) + len(marked))
        return exact, marked

    def _work_out(self, text: str) -> tuple[str, str]:
        tokens, joins, wholes = split_unit(text)
        if tokens == (text,):
            word = split_token(text)
            return " ".join(word.exact), self._other_forms(word)
        exact = " ".join(filter(None, map(self._exact.__getitem__, tokens)))
        forms = [*map(self._marked.__getitem__, tokens), *[MARKER + whole for whole in wholes]]
        forms += [MARKER + self._stems[join] for join in joins]
        return exact, " ".join(filter(None, forms))

    def _other_forms(self, word: Word) -> str:
        """Join the stem, unless it is a function word's, which no query asks for, and what unusual words have."""
        stems, silent = self._stems, self._silent
        stem = stems[word.stemmed] if word.stemmed and word.stemmed not in silent else ""
        if not (word.parts or word.accented or word.letters or self._compounds):
            return stem and MARKER + stem
        forms = [stem] if stem else []
        if word.parts:
            forms += [stems[part] for part in word.parts if part not in silent]
        elif self._compounds:
            forms += tails(stem)
        if word.spelled:
            forms.append(stems[word.spelled])
        if word.accented:
            forms.append(word.accented)
        forms = [*dict.fromkeys(forms), *word.letters]
        return MARKER + f" {MARKER}".join(forms) if forms else ""
