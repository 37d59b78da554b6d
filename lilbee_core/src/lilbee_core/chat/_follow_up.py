"""Follow-up questions: "and when was it built?" is searched with the words that it leaves out."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lilbee_core.chat._compaction import Prompt, said_by
from lilbee_core.errors import ProviderError
from lilbee_core.protocols import ChatProvider, QueryAnalyzer
from lilbee_core.text import defuse, fence_for
from lilbee_core.types import Message

log = logging.getLogger(__name__)

# Words that stand for something said before, by language.
_POINTING: dict[str, frozenset[str]] = {
    language: frozenset(words.split())
    for language, words in {
        "en": "it its itself he him his she her hers they them their theirs this that these those there then one ones "
        "former latter same other another both either neither such",
        "de": "er ihn ihm sein seine seinen seiner sie ihr ihre ihrem ihren ihnen es dessen deren dieser diese dieses "
        "diesem diesen jener jene jenes dort da davon dafür damit darin dazu daran darauf dabei solche derselbe beide",
        "fr": "il elle ils elles lui leur leurs son sa ses ce cet cette ces cela ça ceci celui celle ceux celles y en "
        "lequel laquelle lesquels lesquelles autre autres",
        "es": "él ella ellos ellas eso esto esa ese esos esas este esta estos estas su sus lo la los las le les allí "
        "otro otra ambos",
        "it": "lui lei loro esso essa essi esse questo questa questi queste quello quella quelli quelle suo sua suoi "
        "sue ne ci lo altro altra entrambi",
        "pt": "ele ela eles elas isso isto esse essa esses essas este esta estes estas seu sua seus suas dele dela lá",
        "nl": "hij hem zijn zij ze haar hun hen dit dat deze die er daar daarvan daarmee ervan andere beide",
    }.items()
}
_OPENINGS: dict[str, tuple[str, ...]] = {
    "en": ("and", "or", "but", "what about", "how about", "also", "so"),
    "de": ("und", "oder", "aber", "was ist mit", "wie steht es", "auch", "also"),
    "fr": ("et", "ou", "mais", "qu'en est-il", "aussi"),
    "es": ("y", "o", "pero", "qué hay de", "también"),
    "it": ("e", "o", "ma", "anche"),
    "pt": ("e", "ou", "mas", "também"),
    "nl": ("en", "of", "maar", "hoe zit het met", "ook"),
}
# Scripts without blanks: these characters stand for something wherever they are.
_SIGNS = re.compile("[它他她这那這]|それ|その|これ|この|あれ|彼|그것|그녀|그는|이것")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_PARTICIPLE = re.compile(
    r"[a-z]{2,}[^e\W]ed|built|made|found|held|kept|done|gone|born|sent|sold|told|bought|caught|taught|written|taken|given|"
    r"broken|chosen|known|grown|shown|drawn|eaten|ge[a-zäöüß]{3,}(?:t|en)"
)
_MOST_CARRIED = 8
_MOST_BACK = 8
"""Questions. A subject that was named longer ago is none any more."""
_FEWEST_WORDS = 2
_LONGEST_QUERY = 300
_NONE = re.compile(r"\W*none\W*", re.IGNORECASE)
_LABEL = re.compile(
    r"^\s*(?:(?:standalone|search|rewritten)?\s*(?:query|question|search)\s*:\s*|[-*•>]\s+)", re.IGNORECASE
)
_QUERY_TOKENS = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """What to search for a message. A message that is `about_itself` asks nothing of the documents."""

    query: str
    about_itself: bool = False
    by: str = ""


class FollowUps:
    """Finds what to search for a message in the midst of a conversation. Threads may share it.

    With a chat model it is asked to write the query out; without one, or when it fails, the words of what was asked
    before are added to a message that points back.

    Args:
        analyzer: Tells words that mean something from those that do not.
        languages: Those of the library.
        prompt: Gives the wording for a chat model; a blank ``task.rewrite`` leaves it to the rules.
    """

    def __init__(self, analyzer: QueryAnalyzer, *, languages: Callable[[], Sequence[str]], prompt: Prompt) -> None:
        self._analyzer = analyzer
        self._languages = languages
        self._prompt = prompt

    def rewrite(self, question: str, earlier: Sequence[tuple[str, str]], chat: ChatProvider | None = None) -> Rewritten:
        """Return what to search. `earlier` are the questions and replies before, oldest first."""
        if not earlier:
            return Rewritten(query=question)
        if chat is not None:
            found = self._asked(question, earlier, chat)
            if found is not None:
                return found
        return self.by_rules(question, [asked for asked, _ in earlier])

    def by_rules(self, question: str, earlier: Sequence[str]) -> Rewritten:
        """Return the question with what it leaves out: the words of the last question that stands alone."""
        if not self.points_back(question):
            return Rewritten(query=question)
        carried: list[str] = []
        for before in reversed(earlier[-_MOST_BACK:]):
            words = self._words(before)
            if not self.points_back(before):
                carried = [*words, *carried]
                break
            # Of another follow-up only names and numbers: the rest asked for something else.
            carried = [*(word for word in words if not word[0].islower()), *carried]
        known = {word.casefold() for word in self._words(question)}
        fresh = [word for word in dict.fromkeys(carried) if word.casefold() not in known]
        # What was done to it was the last question; this one asks for something else.
        fresh = ([word for word in fresh if not _PARTICIPLE.fullmatch(word)] or fresh)[:_MOST_CARRIED]
        if not fresh:
            return Rewritten(query=question)
        return Rewritten(query=f"{question} {' '.join(fresh)}", by="rules")

    def points_back(self, question: str) -> bool:
        """Say whether a question cannot be understood by itself: it points back, or says next to nothing."""
        words = [word.casefold() for word in _WORD.findall(question)]
        languages = [language for language in (*self._languages(), "en") if language in _POINTING]
        if any(word in _POINTING[language] for language in languages for word in words):
            return True
        opening = " ".join(words)
        begins = any(opening == one or opening.startswith(f"{one} ") for lang in languages for one in _OPENINGS[lang])
        few = question.isascii() and len(self._words(question)) < _FEWEST_WORDS
        return begins or few or bool(_SIGNS.search(question))

    def _words(self, text: str) -> tuple[str, ...]:
        return self._analyzer.query(text, languages=tuple(self._languages())).highlights

    def _asked(self, question: str, earlier: Sequence[tuple[str, str]], chat: ChatProvider) -> Rewritten | None:
        told = "\n".join(f"user: {asked}\nassistant: {_cut(reply)}" for asked, reply in earlier[-3:])
        told, asked = defuse(told), defuse(question)
        request = self._prompt("task.rewrite", fence=fence_for((told, asked)), messages=told, question=asked)
        if not request.strip():
            return None
        try:
            said = said_by(chat, Message(role="user", content=request), max_tokens=_QUERY_TOKENS)
        except ProviderError as error:
            log.warning("a follow-up is searched by rules: %s", error.message)
            return None
        line = next((line for line in said.splitlines() if line.strip()), "")
        if _NONE.fullmatch(line):
            return Rewritten(query="", about_itself=True, by="model")
        query = _LABEL.sub("", line).strip(" \"'“”«»`*")
        return Rewritten(query=query, by="model") if self._is_sane(query, f"{told} {question}") else None

    def _is_sane(self, query: str, told: str) -> bool:
        """Say whether a query is one: short, and about something that was said."""
        if not query or len(query) > _LONGEST_QUERY:
            return False
        said = {word.casefold() for word in self._words(told)}
        return any(word.casefold() in said for word in self._words(query))


def _cut(reply: str) -> str:
    return reply if len(reply) <= _LONGEST_QUERY * 2 else f"{reply[: _LONGEST_QUERY * 2]} […]"
