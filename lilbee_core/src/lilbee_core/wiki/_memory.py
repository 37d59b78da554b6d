"""What is remembered of pages beside their files: what builds wrote, what was rejected, how statements were chosen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lilbee_core.protocols import StateStore
from lilbee_core.wiki._links import essence
from lilbee_core.wiki._markdown import StoredPage, digest
from lilbee_core.wiki._records import all_kept, kept

_MADE, _REJECTED, _CHOSEN = "wiki.made", "wiki.rejected", "wiki.chosen"


@dataclass(frozen=True, slots=True)
class Choice:
    """How a page was put together of what could be said: by which input, in which order, how faithful it is."""

    inputs: str
    order: tuple[str, ...]
    faithfulness: float | None


class PageMemory:
    """Keeps it in the library's state, which no rebuild of the index touches."""

    def __init__(self, state: StateStore) -> None:
        self._state = state

    def base(self, made: str) -> str | None:
        """Return the body that a build wrote, by its name."""
        value = kept(self._state, _MADE, made)
        return None if value is None else str(value.get("body", ""))

    def keep_base(self, body: str) -> None:
        """Keep a body that is about to be written: later builds merge what people make of it."""
        self._state.save(_MADE, digest(body), {"body": body.strip()})

    def rejected(self) -> Mapping[str, str]:
        """Return the name of what was rejected last, by page."""
        return {slug: str(value.get("essence", "")) for slug, value in all_kept(self._state, _REJECTED)}

    def reject(self, draft: StoredPage) -> None:
        """Let a draft not come back, however it is linked; what a build wrote counts, not what a person made of it."""
        body = draft.body if not draft.is_edited else self.base(draft.made) or draft.body
        self._state.save(_REJECTED, draft.slug, {"essence": essence(body)})

    def choice(self, key: str) -> Choice | None:
        """Return how a page was put together."""
        value = kept(self._state, _CHOSEN, key)
        if value is None or not isinstance(value.get("order"), list):
            return None
        score = value.get("faithfulness")
        return Choice(
            inputs=str(value.get("inputs", "")),
            order=tuple(map(str, cast("Sequence[object]", value["order"]))),
            faithfulness=float(score) if isinstance(score, int | float) else None,
        )

    def keep_choice(self, key: str, choice: Choice) -> None:
        """Keep how a page was put together: the same input is not searched for and measured again."""
        value = {"inputs": choice.inputs, "order": list(choice.order), "faithfulness": choice.faithfulness}
        self._state.save(_CHOSEN, key, value)

    def keep_only(self, *, made: Iterable[str], keys: Iterable[str]) -> None:
        """Forget bodies that no page or draft is made of, and pages that are gone."""
        for kind, wanted in ((_MADE, set(made)), (_CHOSEN, set(keys))):
            for key in self._state.keys(kind):
                if key not in wanted:
                    self._state.delete(kind, key)
