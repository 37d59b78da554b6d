"""What a case may expect of an answer, and of the prompt behind it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Answer, Hit
from tests.cases._hits import folded
from tests.cases._outcome import Outcome

Check = Callable[[Outcome, Any], str | None]

NOT_FOUND = "Not found in this library."
"""What the rules tell the model to say, so that it stands for them."""

_PASSAGE = re.compile(r"^(#+\w+) begin \[(\d+)\] ([^\n]*)\n(.*?)\n\1 end \[\2\]$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r"\[(\d+)\]")


@dataclass(frozen=True, slots=True)
class Given:
    """A passage as the model was given it."""

    number: int
    label: str
    text: str
    fence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What the stand-in model was asked, taken apart. Empty if it was not asked at all."""

    text: str
    rules: str
    passages: tuple[Given, ...]
    offered_tools: int

    @classmethod
    def of(cls, outcome: Outcome) -> Prompt:
        """Return the last prompt of a step."""
        requests = outcome.facts["requests"]
        if not requests:
            return cls(text="", rules="", passages=(), offered_tools=0)
        messages = requests[-1].messages
        text = "\n".join(one.content for one in messages)
        passages = tuple(Given(int(m[2]), m[3], m[4], m[1]) for m in _PASSAGE.finditer(text))
        tools = getattr(requests[-1].options, "tools", None) or ()
        return cls(text=text, rules=_PASSAGE.sub("", text), passages=passages, offered_tools=len(tools))


def _given(outcome: Outcome) -> list[tuple[Given, Hit]]:
    """Return the passages of the prompt with the hits that they are."""
    answer: Answer = outcome.value
    hits = answer.trace.hits if answer.trace is not None else ()
    pairs = []
    for passage in Prompt.of(outcome).passages:
        for hit in hits:
            if folded(hit.text) == folded(passage.text) and hit.path in passage.label:
                pairs.append((passage, hit))
                break
    return pairs


def _subset(outcome: Outcome, wanted: bool) -> str | None:
    given = {hit.chunk_id for _, hit in _given(outcome)}
    alien = [one.path for one in outcome.value.citations if one.chunk_id not in given]
    return f"citations of {alien}" if alien else None


def _mark_leads(outcome: Outcome, wanted: bool) -> str | None:
    by_number = {passage.number: hit for passage, hit in _given(outcome)}
    for one in outcome.value.citations:
        hit = by_number.get(one.marker)
        if hit is None or hit.chunk_id != one.chunk_id or folded(one.quote) not in folded(hit.text):
            return f"[{one.marker}] leads to {one.path} {one.quote!r}"
        if f"[{one.marker}]" not in outcome.value.text:
            return f"[{one.marker}] is cited and not in the answer"
    return None


def _cited(outcome: Outcome, wanted: int) -> str | None:
    count = len({one.marker for one in outcome.value.citations})
    return None if count == wanted else f"{count} in {outcome.value.text!r}"


def _unknown_reported(outcome: Outcome, wanted: bool) -> str | None:
    numbers = {passage.number for passage, _ in _given(outcome)}
    unknown = [mark for mark in _MARK.findall(outcome.facts["model_says"]) if int(mark) not in numbers]
    told = " ".join(outcome.value.warnings)
    silent = [mark for mark in unknown if f"[{mark}]" not in told]
    return f"nothing about [{silent[0]}] in {told!r}" if silent else None


def _sources_listed(outcome: Outcome, wanted: str) -> str | None:
    assert wanted == "given, not cited", f"unknown way to list sources {wanted!r}"
    if outcome.value.citations:
        return f"{len(outcome.value.citations)} citations"
    return None if _given(outcome) else "no passages that were given"


def _has(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    lacking = [one for one in wanted if folded(one) not in folded(outcome.value.text)]
    return repr(outcome.value.text) if lacking else None


def _lacks(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    found = [one for one in wanted if one in outcome.value.text]
    return repr(outcome.value.text) if found else None


def _documents_are_data(outcome: Outcome, wanted: bool) -> str | None:
    rules = Prompt.of(outcome).rules
    return None if re.search(r"\bdata\b", rules) and re.search(r"\bnever\b", rules) else repr(rules[:300])


def _fence_holds(outcome: Outcome, wanted: bool) -> str | None:
    prompt = Prompt.of(outcome)
    if not prompt.passages:
        return "no fenced passages"
    if len({one.fence for one in prompt.passages}) != 1:
        return "several fences"
    fence = prompt.passages[0].fence
    return "a passage that holds the fence" if any(fence in one.text for one in prompt.passages) else None


def _tools(outcome: Outcome, wanted: int) -> str | None:
    offered = Prompt.of(outcome).offered_tools
    return None if offered == wanted else str(offered)


def _requests(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    """Nothing to look at: a request to any address but this machine's fails the test that makes it."""
    assert not wanted, "only no requests at all can be wanted"
    return None


def _not_rendered(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    text = outcome.value.text
    for address in wanted:
        at = re.escape(address)
        pattern = rf"\]\(\s*<?{at}|\]:\s*<?{at}|<{at}|=\s*[\"']?{at}"
        if re.search(pattern, text):
            return repr(text)
    return None


def _not_found(outcome: Outcome, wanted: bool) -> str | None:
    return None if outcome.value.found is not wanted else repr(outcome.value.text)


def _tokens(outcome: Outcome, wanted: int) -> str | None:
    count = EstimatedTokens().count_tokens(Prompt.of(outcome).text)
    return None if 0 < count <= wanted else str(count)


def _keeps(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    prompt = Prompt.of(outcome)
    parts = {"rules": NOT_FOUND, "question": outcome.facts["question"]}
    lacking = [one for one in wanted if parts[one] not in prompt.rules]
    return f"no {lacking[0]} in {prompt.rules[:300]!r}" if lacking else None


def _dropped(outcome: Outcome, wanted: bool) -> str | None:
    told = [one for one in outcome.value.warnings if "did not fit" in one]
    return None if bool(told) is wanted else f"{outcome.value.warnings} with {len(Prompt.of(outcome).passages)} given"


ASK: Mapping[str, Check] = {
    "citations_subset_of_given": _subset,
    "mark_leads_to_given_passage": _mark_leads,
    "cited_count": _cited,
    "unknown_marks_reported": _unknown_reported,
    "sources_listed_as": _sources_listed,
    "must_include": _has,
    "must_not": _lacks,
    "prompt_says_documents_are_data": _documents_are_data,
    "document_cannot_close_fence": _fence_holds,
    "writing_tools_offered": _tools,
    "requests_to": _requests,
    "answer_must_not_render": _not_rendered,
    "says_not_found": _not_found,
    "prompt_tokens_at_most": _tokens,
    "prompt_keeps": _keeps,
    "dropped_passages_reported": _dropped,
}
"""The checks by the name that cases give them."""
