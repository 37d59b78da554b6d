"""The wordings of a library: those of every part that talks to a chat model, in their layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lilbee_core.library._parts import Parts

if TYPE_CHECKING:
    from lilbee_core.chat import Prompts

_PACKAGES = ("lilbee_core.answer", "lilbee_core.chat", "lilbee_core.wiki")


def prompts_of(parts: Parts) -> Prompts:
    """Return the wordings of a library, built once."""
    return parts.once("prompts", lambda: _build(parts))


def _build(parts: Parts) -> Prompts:
    from lilbee_core.chat import SYSTEM, Prompts, texts_of

    defaults: dict[str, str] = {}
    for package in _PACKAGES:
        defaults |= texts_of(package)

    def instance() -> Mapping[str, str]:
        text = parts.settings.answer.system_prompt
        return {SYSTEM: text} if text else {}

    def values() -> Mapping[str, str]:
        now = parts.clock.now()
        root = parts.home.root
        return {
            "date": now.date().isoformat(),
            "time": now.strftime("%H:%M"),
            "weekday": now.strftime("%A"),
            "model": parts.chat_model,
            "library": root.name if root is not None else "",
        }

    return Prompts(defaults, lambda: parts.state, model=lambda: parts.chat_model, instance=instance, values=values)
