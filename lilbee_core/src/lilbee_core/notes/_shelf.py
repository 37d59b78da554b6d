"""A shelf of notes, of facts or of skills: each with every revision, who wrote it, and a way back."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC

from lilbee_core.arguments import checked
from lilbee_core.errors import InvalidArgument, NotFound, StoreError
from lilbee_core.notes._records import from_state, to_state
from lilbee_core.protocols import Clock, QueryAnalyzer, StateStore
from lilbee_core.text import defuse, fold_space, tokens_at_most
from lilbee_core.types import Author, Note

log = logging.getLogger(__name__)

USER = Author()
_NAME = re.compile(r"[^\W_][\w-]{0,59}")
_LINE_TOKENS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What is kept on a shelf, and how long it may be."""

    name: str
    longest: int
    named: bool = False
    one_line: bool = False
    slug: bool = False


NOTE = Kind(name="note", longest=100_000, named=True)
FACT = Kind(name="fact", longest=500, one_line=True)
SKILL = Kind(name="skill", longest=50_000, named=True, slug=True)


@checked
class Shelf:
    """Notes of one kind, in the library's state. Threads and processes may share it.

    Nothing that was written is overwritten: a change is a revision, with its author, and any one can be gone back to.
    """

    def __init__(
        self,
        kind: Kind,
        state: Callable[[], StateStore],
        clock: Clock,
        analyzer: Callable[[], QueryAnalyzer],
        *,
        prepare: Callable[[], None] = lambda: None,
    ) -> None:
        self._kind = kind
        self._state = state
        self._clock = clock
        self._analyzer = analyzer
        self._prepare = prepare

    # ------------------------------------------------------------------ reading

    def list(self, search: str = "") -> tuple[Note, ...]:
        """Return all, the latest first; with `search`, those that hold words of it, the best first."""
        found = [revisions[-1] for key in self._state().keys(self._kind.name) if (revisions := self._read(key))]
        found.sort(key=lambda one: (one.updated_at, one.id), reverse=True)
        return tuple(found) if not search.strip() else self._matching(search, found)

    def get(self, ref: str) -> Note | None:
        """Return one by its id or its name, or None."""
        revisions = self._read(ref)
        if revisions:
            return revisions[-1]
        wanted = fold_space(ref).casefold()
        return next((one for one in self.list() if one.name and one.name.casefold() == wanted), None)

    def require(self, ref: str) -> Note:
        """Return one by its id or its name.

        Raises:
            NotFound: If there is none.
        """
        found = self.get(ref)
        if found is None:
            raise NotFound(f"there is no {self._kind.name} {ref!r}", hint=f"List the {self._kind.name}s to see them.")
        return found

    def revisions(self, ref: str) -> tuple[Note, ...]:
        """Return every revision, oldest first.

        Raises:
            NotFound: If there is none of that id or name.
        """
        return self._read(self.require(ref).id)

    def damaged(self) -> tuple[str, ...]:
        """Return the ids of those that cannot be read. They stay as they are until they are deleted."""
        return tuple(key for key in self._state().keys(self._kind.name) if not self._read(key))

    # ------------------------------------------------------------------ writing

    def add(self, text: str, *, name: str = "", description: str = "", author: Author | None = None) -> Note:
        """Keep something new. A fact that is known stays as it is; a skill whose name is taken gets another revision.

        Raises:
            InvalidArgument: If it is blank or too long, or its name cannot be one.
        """
        self._prepare()
        state = self._state()
        with state.transaction():
            said = self._same(text)
            if said is not None:
                return said
            known = self.get(name) if self._kind.slug and name.strip() else None
            if known is not None:
                return self.edit(known.id, text=text, description=description or None, author=author)
            now = self._now()
            note = self._checked(
                Note(
                    id=secrets.token_hex(4),
                    kind=self._kind.name,
                    text=text,
                    name=name,
                    description=description,
                    author=author or USER,
                    created_at=now,
                    updated_at=now,
                )
            )
            state.save(self._kind.name, note.id, to_state((note,)))
        return note

    def edit(
        self,
        ref: str,
        *,
        text: str | None = None,
        name: str | None = None,
        description: str | None = None,
        author: Author | None = None,
    ) -> Note:
        """Write something anew; what it was stays as a revision.

        Raises:
            NotFound: If there is none of that id or name.
            InvalidArgument: If it is blank or too long, or its name cannot be one.
        """
        state = self._state()
        with state.transaction():
            old = self.revisions(ref)
            last = old[-1]
            changed = replace(
                last,
                text=last.text if text is None else text,
                name=last.name if name is None else name,
                description=last.description if description is None else description,
            )
            checked = self._checked(changed)
            if checked == last:
                return last
            note = replace(checked, revision=last.revision + 1, author=author or USER, updated_at=self._now())
            taken = self.get(note.name) if self._kind.slug else None
            if taken is not None and taken.id != note.id:
                raise InvalidArgument(f"there is a skill {note.name!r} already", hint="Choose another name.")
            state.save(self._kind.name, note.id, to_state((*old, note)))
        return note

    def revert(self, ref: str, revision: int) -> Note:
        """Go back to a revision. That is a revision too, so it can be undone.

        Raises:
            NotFound: If there is none of that id or name, or no such revision.
        """
        kept = next((one for one in self.revisions(ref) if one.revision == revision), None)
        if kept is None:
            raise NotFound(
                f"the {self._kind.name} {ref!r} has no revision {revision}", hint="List its revisions to see them."
            )
        return self.edit(kept.id, text=kept.text, name=kept.name, description=kept.description)

    def delete(self, ref: str) -> bool:
        """Delete one with all its revisions; say whether there was one."""
        if self._state().delete(self._kind.name, ref):
            return True
        found = self.get(ref)
        return found is not None and self._state().delete(self._kind.name, found.id)

    # ------------------------------------------------------------------ for the chat model

    def brief(self, budget_tokens: int) -> str:
        """Return a line for each, the latest first, as many as the budget allows."""
        lines: list[str] = []
        for note in self.list():
            line = "- " + defuse(fold_space(f"{note.name}: {note.description}" if self._kind.slug else note.text))
            budget_tokens -= tokens_at_most(line) + _LINE_TOKENS
            if budget_tokens < 0:
                log.info("the memory is full: not every %s is told to the chat model", self._kind.name)
                break
            lines.append(line)
        return "\n".join(lines)

    # ------------------------------------------------------------------ inside

    def _now(self) -> str:
        return self._clock.now().astimezone(UTC).isoformat(timespec="milliseconds")

    def _read(self, key: str) -> tuple[Note, ...]:
        try:
            value = self._state().load(self._kind.name, key)
            return () if value is None else from_state(value)
        except StoreError as error:
            if error.code != "store.damaged":
                raise
            log.warning("%s", error.message)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            log.warning("the %s %s in the state is damaged: %s", self._kind.name, key, error)
        return ()

    def _same(self, text: str) -> Note | None:
        """Return the fact that says the same already."""
        if not self._kind.one_line:
            return None
        wanted = fold_space(text).casefold()
        return next((one for one in self.list() if one.text.casefold() == wanted), None)

    def _checked(self, note: Note) -> Note:
        text = fold_space(note.text) if self._kind.one_line else note.text.strip()
        name, description = fold_space(note.name), fold_space(note.description)
        if not text:
            raise InvalidArgument(f"a {self._kind.name} needs a text", hint="Write at least a word.")
        if len(text) > self._kind.longest:
            raise InvalidArgument(
                f"the {self._kind.name} has {len(text)} characters", hint=f"Write at most {self._kind.longest}."
            )
        if self._kind.slug and not _NAME.fullmatch(name):
            raise InvalidArgument(
                f"{note.name!r} cannot be the name of a skill", hint="Use letters, digits, - and _, at most 60."
            )
        if self._kind.slug and not description:
            raise InvalidArgument(f"the skill {name!r} needs a description", hint="Say in a line when it applies.")
        if self._kind.named and not name:
            name = text.splitlines()[0].lstrip("# ")[:60]
        return replace(note, text=text, name=name[:200], description=description[:300])

    def _matching(self, search: str, notes: Sequence[Note]) -> tuple[Note, ...]:
        analyzer = self._analyzer()
        query = analyzer.query(search)
        scored: list[tuple[int, Note]] = []
        for note in notes:
            text = f"{note.name}\n{note.description}\n{note.text}"
            words = {text[start:end].casefold() for start, end in analyzer.spans(text, query)}
            if words:
                scored.append((len(words), note))
        return tuple(note for _, note in sorted(scored, key=lambda one: -one[0]))
