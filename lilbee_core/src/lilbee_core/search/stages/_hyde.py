"""A hypothetical answer to search with: it is nearer to real answers than the question is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lilbee_core.protocols import ChatProvider, SearchContext
from lilbee_core.search._asking import LONGEST_QUERY, ask, is_askable, template
from lilbee_core.search._vectors import HYDE
from lilbee_core.types import Part, SearchState, Variant

_TOKENS = 220
_MOST_WORDS = 150


@dataclass(frozen=True, slots=True)
class Hyde:
    """Have a chat model write a passage of 50 to 100 words that answers the query, to be searched beside it.

    The passage is embedded as a document, weighs `weight` against 1 for the query, and is shown to nobody but in the
    trace: nothing in it need be true.

    Raises:
        ProviderError: If the model fails, is late or writes nothing.
    """

    chat: ChatProvider
    weight: float = 0.7
    timeout_s: float = 30.0
    name: str = "hyde"
    reads: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)
    writes: frozenset[Part] = field(default=frozenset({Part.VARIANTS}), init=False)

    def run(self, state: SearchState, context: SearchContext) -> SearchState:
        if not is_askable(state):
            return replace(state, note="nothing to answer")
        text = state.variants[0].text
        if len(text) > LONGEST_QUERY:
            return replace(state, note="the query is long enough")
        prompt = template("hyde").format(query=text)
        said = ask(self.chat, prompt, context, max_tokens=_TOKENS, timeout_s=self.timeout_s, what="a passage")
        passage = " ".join(said.split()[:_MOST_WORDS])
        more = Variant(text=passage, kind=HYDE, weight=self.weight)
        return replace(state, variants=(*state.variants, more), note=passage)
