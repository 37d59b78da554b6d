"""Steps that look at the concept graph, and that build, read and edit the wiki by a scripted model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lilbee_core import Lilbee
from lilbee_core.errors import NotFound
from lilbee_core.testing import ScriptedChat
from lilbee_core.types import Message, WikiPage
from tests.cases._case import Step
from tests.cases._outcome import Outcome
from tests.cases._world import World

_PASSAGE = re.compile(r"^#####\w+ begin passage (\d+): [^\n]*\n(.*?)\n#####\w+ end passage", re.MULTILINE | re.DOTALL)
_NAMED = re.compile(r"\b[Tt]he ([A-Z]\w+ [a-z]+)")
_DEFINITIONS = re.compile(r"(?:^\[\^\d+\]: .*\n?)+", re.MULTILINE)


def writer(asked: Sequence[Message]) -> str:
    """Reply as an honest model would: the sentences of the passages, under the names in them ("the Gadwall cell")."""
    pages: dict[str, list[dict[str, object]]] = {}
    for number, text in _PASSAGE.findall(asked[0].content):
        for sentence in re.findall(r"[^.]+\.", text):
            for title in _NAMED.findall(sentence):
                pages.setdefault(title, []).append({"text": sentence.strip(), "passages": [int(number)]})
    return json.dumps({"pages": [{"title": title, "sentences": said} for title, said in pages.items()]})


def graph(world: World, step: Step) -> Outcome:
    """Look at the concept graph; a library that has none yet has an empty one."""
    try:
        world.bee.concepts.list()
    except NotFound:
        return Outcome(value=None)
    return Outcome(value=world.bee)


def _build(world: World, step: Step) -> Outcome:
    world.use_chat(ScriptedChat(writer))
    return Outcome(value=world.bee.wiki.build())


def _page(world: World, step: Step) -> Outcome:
    return Outcome(value=_of(world.bee, step["about"]), facts={"bee": world.bee})


def _edit(world: World, step: Step) -> Outcome:
    slug = _of(world.bee, step["about"]).slug
    file = next(world.bee.wiki.folder.rglob(f"{slug}.md"))
    file.write_text(file.read_text(encoding="utf-8") + step["append"], encoding="utf-8")
    return Outcome()


def _of(bee: Lilbee, about: str) -> WikiPage:
    """Return the page about something, with what it cites."""
    found = [page.slug for page in bee.wiki.pages() if page.title.casefold() == about.casefold()]
    return bee.wiki.require(found[0] if found else about)


WIKI_STEPS: Mapping[str, Callable[[World, Step], Outcome]] = {
    "wiki_build": _build,
    "wiki_page": _page,
    "edit_wiki_page": _edit,
    "graph": graph,
}


# ---------------------------------------------------------------------- what may be expected


def _ids(outcome: Outcome, names: Sequence[str]) -> list[str | None]:
    found = [outcome.value.concepts.get(name) if outcome.value is not None else None for name in names]
    return [None if one is None else one.id for one in found]


def _one_node(outcome: Outcome, wanted: Sequence[Sequence[str]]) -> str | None:
    apart = {", ".join(names): ids for names in wanted if len(set(ids := _ids(outcome, names))) > 1 or None in ids}
    return str(apart) if apart else None


def _separate(outcome: Outcome, wanted: Sequence[Sequence[str]]) -> str | None:
    found = {", ".join(names): [one for one in _ids(outcome, names) if one is not None] for names in wanted}
    together = {names: ids for names, ids in found.items() if len(set(ids)) < len(ids)}
    return str(together) if together else None


def _nodes(outcome: Outcome, wanted: int) -> str | None:
    count = 0 if outcome.value is None else len(outcome.value.concepts.list())
    return None if count == wanted else str(count)


def _no_source(outcome: Outcome, wanted: Sequence[Mapping[str, str]]) -> str | None:
    if outcome.value is None:
        return None
    paths = {chunk.path for one in outcome.value.concepts.list() for chunk in outcome.value.concepts.chunks(one.id)}
    left = paths & {one["source"] for one in wanted}
    return str(sorted(left)) if left else None


def _cites(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    paths = sorted({one.path for one in outcome.value.citations})
    return None if paths == sorted(wanted) else str(paths)


def _exists(outcome: Outcome, wanted: bool) -> str | None:
    bee = outcome.facts["bee"]
    gone = [
        one.path
        for one in outcome.value.citations
        if bee.get_text(f"{one.collection}/{one.path}", one.location).text.find(one.quote) < 0
    ]
    listed = len(re.findall(r"^\[\^\d+\]: ", outcome.value.body, re.MULTILINE))
    if listed != len(outcome.value.citations):
        gone.append(f"{listed} citations are listed, {len(outcome.value.citations)} stand somewhere")
    return None if (not gone) is wanted else str(gone)


def _blocks(outcome: Outcome, wanted: int) -> str | None:
    count = len(_DEFINITIONS.findall(outcome.value.body))
    return None if count == wanted else str(count)


def _includes(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    return None if all(text in outcome.value.body for text in wanted) else outcome.value.body


def _includes_not(outcome: Outcome, wanted: Sequence[str]) -> str | None:
    return outcome.value.body if any(text in outcome.value.body for text in wanted) else None


def _is_marked(outcome: Outcome, wanted: bool) -> str | None:
    page = outcome.value
    told = {one.kind for one in outcome.facts["bee"].wiki.lint() if one.slug == page.slug}
    marked = not page.sources and "Nothing in the library speaks of this" in page.body and "without_source" in told
    return None if marked is wanted else f"{page.note!r}: {page.body}"


GRAPH: Mapping[str, Callable[[Outcome, Any], str | None]] = {
    "one_node": _one_node,
    "separate": _separate,
    "nodes": _nodes,
    "must_not": _no_source,
}
WIKI_PAGE: Mapping[str, Callable[[Outcome, Any], str | None]] = {
    "cites": _cites,
    "citation_blocks": _blocks,
    "every_citation_exists": _exists,
    "must_include": _includes,
    "must_not": _includes_not,
    "kept_only_because_edited_and_marked_without_source": _is_marked,
}
