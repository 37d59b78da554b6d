"""The plain answer when the library does not hold one."""

from __future__ import annotations

from lilbee_core.types import Answer, Hit, SearchResult

NOT_FOUND = "Not found in this library."
_NEAREST = 3


def not_found(question: str, result: SearchResult, *, model: str | None = None) -> Answer:
    """Return an answer that says so, names the nearest places, and cites nothing."""
    text = NOT_FOUND
    if result.hits:
        text += " The nearest passages are in " + ", ".join(
            dict.fromkeys(_place(one) for one in result.hits[:_NEAREST])
        )
        text += "."
    return Answer(
        question=question, text=text, citations=(), found=False, model=model, warnings=result.warnings, trace=result
    )


def _place(hit: Hit) -> str:
    place = str(hit.chunk.location)
    return f"{hit.path} ({place})" if place else hit.path
