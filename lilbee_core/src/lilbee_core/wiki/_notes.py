"""What a chat model said about a source, as far as its passages bear it out: kept, so that nobody is asked twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast

from lilbee_core.analysis import fold
from lilbee_core.protocols import StateStore
from lilbee_core.types import ChunkId
from lilbee_core.wiki._records import all_kept, kept

_KIND = "wiki.notes"


@dataclass(frozen=True, slots=True)
class Backed:
    """The words of a passage that bear a sentence out."""

    chunk_id: ChunkId
    quote: str


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence that its passages bear out."""

    text: str
    backed: tuple[Backed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What was said about one thing. `dropped` are the sentences that no passage bears out."""

    title: str
    sentences: tuple[Sentence, ...]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNotes:
    """All that was said about a source (or a topic).

    `named` tells that the model could choose what to write about. Where nothing could be read, `problem` says why, and
    `reply` is what came.
    """

    notes: tuple[Note, ...] = ()
    named: bool = True
    problem: str = ""
    reply: str = ""
    content: str = ""

    @property
    def dropped(self) -> int:
        """How many sentences no passage bears out."""
        return sum(len(note.dropped) for note in self.notes)

    def of(self, content: str) -> SourceNotes:
        """Return the same with a name for what was told the model."""
        return replace(self, content=content)

    def to_state(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "named": self.named,
            "problem": self.problem,
            "reply": self.reply,
            "content": self.content,
            "notes": [
                {
                    "title": note.title,
                    "dropped": list(note.dropped),
                    "sentences": [[one.text, [[it.chunk_id, it.quote] for it in one.backed]] for one in note.sentences],
                }
                for note in self.notes
            ],
        }

    @classmethod
    def from_state(cls, value: Mapping[str, object]) -> SourceNotes | None:
        """Read it; None where it is damaged."""
        try:
            notes = tuple(_note(cast("Mapping[str, object]", one)) for one in cast("list[object]", value["notes"]))
        except (KeyError, TypeError, ValueError):
            return None
        return cls(
            notes=notes,
            named=bool(value.get("named", True)),
            problem=str(value.get("problem", "")),
            reply=str(value.get("reply", "")),
            content=str(value.get("content", "")),
        )


def _note(value: Mapping[str, object]) -> Note:
    sentences = [
        Sentence(str(text), tuple(Backed(ChunkId(str(chunk)), str(quote)) for chunk, quote in backed))
        for text, backed in cast("list[tuple[str, list[tuple[str, str]]]]", value["sentences"])
    ]
    dropped = tuple(map(str, cast("list[object]", value.get("dropped") or [])))
    return Note(title=str(value["title"]), sentences=tuple(sentences), dropped=dropped)


class NoteBook:
    """Keeps notes by what they are about: the content of a source, or a topic. No file is touched."""

    def __init__(self, state: StateStore, kind: str = _KIND) -> None:
        self._state = state
        self._kind = kind

    def get(self, key: str) -> SourceNotes | None:
        """Return what is kept."""
        value = kept(self._state, self._kind, key)
        return None if value is None else SourceNotes.from_state(value)

    def put(self, key: str, notes: SourceNotes) -> None:
        """Keep notes from now on, whatever happens next."""
        self._state.save(self._kind, key, notes.to_state())

    def all(self) -> Iterator[tuple[str, SourceNotes]]:
        """Yield all notes that can be read."""
        for key, value in all_kept(self._state, self._kind):
            notes = SourceNotes.from_state(value)
            if notes is not None:
                yield key, notes

    def keep_only(self, keys: Iterable[str]) -> None:
        """Forget all others."""
        wanted = set(keys)
        for key in self._state.keys(self._kind):
            if key not in wanted:
                self._state.delete(self._kind, key)


class Titles:
    """The titles that were written about, by their folded forms: the same ones whatever the order they came in."""

    def __init__(self, notes: Iterable[SourceNotes] = ()) -> None:
        self._found: dict[str, str] = {}
        for one in notes:
            self.add(one)

    def add(self, notes: SourceNotes) -> None:
        """Know the titles of more notes."""
        for note in notes.notes:
            if note.sentences:
                key = fold(note.title)
                self._found[key] = min(note.title, self._found.get(key, note.title))

    def items(self) -> list[tuple[str, str]]:
        """Return them, sorted."""
        return sorted(self._found.items())
