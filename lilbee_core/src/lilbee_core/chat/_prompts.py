"""Wordings that a chat model is given: defaults in the package, and what was put in their place."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from lilbee_core.errors import InvalidArgument, NotFound, StoreError
from lilbee_core.protocols import StateStore
from lilbee_core.text import fill, gaps

log = logging.getLogger(__name__)

_KIND = "prompt"
_OF_MODEL = "@"
SYSTEM = "answer.system"
_LONGEST = 100_000


@cache
def texts_of(package: str) -> Mapping[str, str]:
    """Return the prompts that come with a package, by the names of their files."""
    folder = files(package).joinpath("prompts")
    found = [one for one in folder.iterdir() if one.name.endswith(".txt")]
    return {one.name.removesuffix(".txt"): one.read_text("utf-8").strip() for one in found}


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptText:
    """A wording and where it comes from: ``default``, ``instance``, ``model`` or ``conversation``."""

    name: str
    text: str
    layer: str
    model: str | None = None

    @property
    def variables(self) -> tuple[str, ...]:
        """The gaps that are filled in when it is used."""
        return gaps(self.text)

    def to_dict(self) -> dict[str, object]:
        return {
            "name": self.name,
            "text": self.text,
            "layer": self.layer,
            "model": self.model,
            "variables": list(self.variables),
        }


class Prompts:
    """The wordings of a library. Threads may share it.

    Of three layers the most specific wins outright: that of a conversation, else that of the chat model, else that of
    the library, else the default, which a newer version may improve. A blank text is a text too.

    Args:
        defaults: The wordings that come with lilbee, by name.
        state: Keeps what was put in their place.
        model: Says which chat model is used.
        instance: What settings say for the library, by name.
        values: What may be put into gaps of every prompt.
    """

    def __init__(
        self,
        defaults: Mapping[str, str],
        state: Callable[[], StateStore],
        *,
        model: Callable[[], str | None] = lambda: None,
        instance: Callable[[], Mapping[str, str]] = dict[str, str],
        values: Callable[[], Mapping[str, str]] = dict[str, str],
    ) -> None:
        self._defaults = dict(defaults)
        self._state = state
        self._model = model
        self._instance = instance
        self._values = values

    def list(self) -> tuple[PromptText, ...]:
        """Return every wording as it is used now, by name."""
        return tuple(self.get(name) for name in sorted(self._defaults))

    def get(self, name: str, *, own: Mapping[str, str] | None = None) -> PromptText:
        """Return a wording as it is used now; `own` are those of a conversation.

        Raises:
            NotFound: If there is none of that name.
        """
        default = self._require(name)
        if own is not None and name in own:
            return PromptText(name=name, text=own[name], layer="conversation")
        model = self._model()
        if model is not None and (text := self._stored(name, model)) is not None:
            return PromptText(name=name, text=text, layer="model", model=model)
        text = self._stored(name, None)
        if text is None:
            text = self._instance().get(name)
        if text is not None:
            return PromptText(name=name, text=text, layer="instance")
        return PromptText(name=name, text=default, layer="default")

    def default(self, name: str) -> str:
        """Return the wording that comes with lilbee.

        Raises:
            NotFound: If there is none of that name.
        """
        return self._require(name)

    def text(self, name: str, /, **values: str) -> str:
        """Return a wording with its gaps filled; a gap that nobody knows stays as it is."""
        return self.text_within({}, name, **values)

    def text_within(self, own: Mapping[str, str], name: str, /, **values: str) -> str:
        """Return a wording as it is in a conversation that has some of its `own`, with its gaps filled."""
        return fill(self.get(name, own=own).text, **{**self._values(), **values})

    def set(self, name: str, text: str, *, model: str | None = None) -> PromptText:
        """Use another wording from now on: for one chat model, or for all.

        Raises:
            NotFound: If there is none of that name.
            InvalidArgument: If it is far too long.
        """
        self.check(name, text)
        self._state().save(_KIND, _key(name, model), {"text": text})
        return PromptText(name=name, text=text, layer="model" if model else "instance", model=model)

    def unset(self, name: str, *, model: str | None = None) -> bool:
        """Go back to what holds otherwise; say whether there was another wording.

        Raises:
            NotFound: If there is none of that name.
        """
        self._require(name)
        return self._state().delete(_KIND, _key(name, model))

    def check(self, name: str, text: str) -> None:
        """Refuse what cannot be a wording.

        Raises:
            NotFound: If there is none of that name.
            InvalidArgument: If it is far too long.
        """
        self._require(name)
        if len(text) > _LONGEST:
            raise InvalidArgument(
                f"the prompt has {len(text)} characters", hint=f"Write at most {_LONGEST} characters."
            )

    def _require(self, name: str) -> str:
        if name not in self._defaults:
            raise NotFound(f"there is no prompt {name!r}", hint=f"Choose one of {', '.join(sorted(self._defaults))}.")
        return self._defaults[name]

    def _stored(self, name: str, model: str | None) -> str | None:
        try:
            value = self._state().load(_KIND, _key(name, model))
        except StoreError as error:
            log.warning("the prompt %s is used as it comes with lilbee: %s", name, error.message)
            return None
        return None if value is None else str(value.get("text", ""))


def _key(name: str, model: str | None) -> str:
    return f"{name}{_OF_MODEL}{model}" if model else name
