"""A wiki by a chat model: one call a document, checked, merged, resumed, reviewed.

R219-R227, R229-R232, R028, R248, R294.
"""

from __future__ import annotations

import json
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from lilbee_core import Lilbee, Settings
from lilbee_core.concepts import can_cluster
from lilbee_core.errors import InvalidArgument, NotFound, ProviderError, WikiError
from lilbee_core.library import CancelSwitch
from lilbee_core.testing import HashEmbedder, ScriptedChat
from lilbee_core.types import Delta, Message

pytestmark = pytest.mark.slow

TEXTS = {
    "bees.md": "The honey bee carries pollen to its hive every spring. Keepers weigh the hive in autumn.",
    "kent.md": "Orchards of Kent need the honey bee in April. Kent lies south of the Thames.",
    "lake.md": "Lake Geneva lies between France and Switzerland. Nobody keeps bees on Lake Geneva.",
}
ORCHARDS = (
    "The honey bee carries pollen from the almond orchards of Kent to its hive every spring.",
    "Almond orchards of Kent need the honey bee, since no wind carries their pollen far enough.",
    "In a warm spring the honey bee leaves for the almond orchards of Kent before the sun is up.",
    "Near Lake Geneva the World Health Organization (WHO) counted who had fallen ill this winter.",
    "The World Health Organization sits at Lake Geneva and reports on illness every single week.",
    "Nobody at Lake Geneva had asked the World Health Organization to look at anything of all that.",
)
TITLES = ("honey bee", "hive", "Kent", "Lake Geneva", "almond orchards")
_PASSAGE = re.compile(r"^#####\w+ begin passage (\d+): [^\n]*\n(.*?)\n#####\w+ end passage", re.MULTILINE | re.DOTALL)


def passages(asked: Sequence[Message]) -> list[tuple[int, str]]:
    return [(int(number), text) for number, text in _PASSAGE.findall(asked[0].content)]


def faithful(asked: Sequence[Message]) -> str:
    """Reply with the very sentences of the passages, under what they name."""
    said: dict[str, list[dict[str, object]]] = {}
    for number, text in passages(asked):
        for sentence in re.findall(r"[^.]+\.", text):
            for title in TITLES:
                if title.casefold() in sentence.casefold():
                    said.setdefault(title, []).append({"text": sentence.strip(), "passages": [number]})
    if "overview of one topic" in asked[0].content:
        return json.dumps({"sentences": [one for group in said.values() for one in group]})
    return json.dumps({"pages": [{"title": title, "sentences": group} for title, group in said.items()]})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "notes"
    root.mkdir()
    for name, text in TEXTS.items():
        (root / name).write_text(f"{text}\n", encoding="utf-8")
    return root


PLAIN = {"concepts": False, "wiki_min_faithfulness": 0.0}


def opened(folder: Path, chat: ScriptedChat | None, **options: object) -> Lilbee:
    return Lilbee(folder, Settings().changed({**PLAIN, **options}), embedder=HashEmbedder(), chat=chat)


def files(bee: Lilbee) -> dict[str, str]:
    root = bee.wiki.folder
    return {one.relative_to(root).as_posix(): one.read_text(encoding="utf-8") for one in sorted(root.rglob("*.md"))}


def untimed(found: dict[str, str]) -> dict[str, str]:
    return {name: re.sub(r"\d{4}-\d\d-\d\dT[\d:+]+", "", text) for name, text in found.items()}


@pytest.fixture
def chat() -> ScriptedChat:
    return ScriptedChat(faithful)


@pytest.fixture
def bee(folder: Path, chat: ScriptedChat) -> Iterator[Lilbee]:
    with opened(folder, chat) as made:
        made.sync()
        yield made


# ---------------------------------------------------------------- building


def test_one_call_per_document_makes_pages_with_checked_citations(bee: Lilbee, chat: ScriptedChat) -> None:
    plan = bee.wiki.plan()
    assert (plan.calls, chat.requests) == (3, [])
    assert [one.about for one in plan.asks] == ["notes/bees.md", "notes/kent.md", "notes/lake.md"]
    assert plan.tokens > 300
    assert not bee.wiki.folder.exists()
    report = bee.wiki.build()
    page = bee.wiki.require("honey-bee")

    assert (report.calls, len(chat.requests), report.failed, report.dropped) == (3, 3, (), 0)
    assert {one.slug for one in report.pages} == {"honey-bee", "hive", "kent", "lake-geneva"}
    assert (page.by, page.kind, sorted(page.sources)) == ("model", "concept", ["notes/bees.md", "notes/kent.md"])
    assert {one.quote for one in page.citations} == {
        "The honey bee carries pollen to its hive every spring.",
        "Orchards of Kent need the honey bee in April.",
    }
    assert {(one.path, one.line_start) for one in page.citations} == {("bees.md", 1), ("kent.md", 1)}
    assert "The honey bee carries pollen to its [[hive]] every spring. [^" in page.body
    assert "[[kent|Kent]]" in page.body
    assert page.body.count("[^1]:") == 1
    schema = json.loads(chat.requests[0].options.json_schema or "")
    assert schema["properties"]["pages"]["items"]["properties"]["sentences"]["items"]["properties"]["passages"]


def test_two_builds_make_no_call_and_change_no_byte(bee: Lilbee, chat: ScriptedChat) -> None:
    bee.wiki.build()
    before = files(bee)
    times = {one: one.stat().st_mtime_ns for one in bee.wiki.folder.rglob("*")}
    report = bee.wiki.build()

    assert (report.calls, report.pages, report.removed, len(chat.requests)) == (0, (), (), 3)
    assert files(bee) == before
    assert {one: one.stat().st_mtime_ns for one in bee.wiki.folder.rglob("*")} == times
    assert bee.wiki.plan().calls == 0


class Killed(BaseException):
    """Stands for the end of the process in the midst of a call."""


def dying_at(call: int) -> ScriptedChat:
    count = iter(range(100))

    def reply(asked: Sequence[Message]) -> str:
        if next(count) == call:
            raise Killed
        return faithful(asked)

    return ScriptedChat(reply)


def test_killed_at_any_call_and_resumed_the_result_is_the_same(folder: Path, tmp_path: Path) -> None:
    with opened(folder, ScriptedChat(faithful)) as bee:
        bee.sync()
        bee.wiki.build()
        whole = untimed(files(bee))
    for call in range(3):
        data_dir = tmp_path / f"data-{call}"
        options = {"embedder": HashEmbedder(), "data_dir": data_dir}
        with Lilbee(folder, Settings().changed(PLAIN), chat=dying_at(call), **options) as bee:  # type: ignore[arg-type]
            bee.sync()
            with pytest.raises(Killed):
                bee.wiki.build()
        chat = ScriptedChat(faithful)
        with Lilbee(folder, Settings().changed(PLAIN), chat=chat, **options) as bee:  # type: ignore[arg-type]
            bee.wiki.build()
            assert untimed(files(bee)) == whole
            assert len(chat.requests) == 3 - call


def test_only_changed_documents_are_asked_about_and_a_renamed_one_is_not(
    bee: Lilbee, folder: Path, chat: ScriptedChat
) -> None:
    bee.wiki.build()
    before = files(bee)
    (folder / "lake.md").rename(folder / "water.md")
    (folder / "bees.md").write_text("The honey bee sleeps all winter long in its hive.\n", encoding="utf-8")
    bee.sync()
    report = bee.wiki.build()

    assert (report.calls, len(chat.requests)) == (1, 4)
    assert "carries pollen" not in bee.wiki.require("honey-bee").body
    assert "sleeps all winter" in bee.wiki.require("honey-bee").body
    assert "[^1]: water.md" in bee.wiki.require("lake-geneva").body
    assert files(bee)["concepts/kent.md"] == before["concepts/kent.md"]


def test_a_document_that_is_gone_takes_its_pages_along_without_a_call(
    bee: Lilbee, folder: Path, chat: ScriptedChat
) -> None:
    bee.wiki.build()
    (folder / "lake.md").unlink()
    bee.sync()
    report = bee.wiki.build()

    assert (report.removed, report.calls) == (("lake-geneva",), 0)
    assert "archive/lake-geneva.md" in files(bee)
    assert "lake-geneva" not in files(bee)["index.md"]
    assert len(chat.requests) == 3


def test_without_a_chat_model_what_was_written_stays(folder: Path, bee: Lilbee) -> None:
    bee.wiki.build()
    before = files(bee)
    bee.close()
    with opened(folder, None) as other:
        assert other.wiki.build().pages == ()
        assert files(other) == before


def test_a_cap_leaves_the_rest_for_the_next_build(bee: Lilbee) -> None:
    first = bee.wiki.build(most_calls=1)
    assert (first.calls, first.waiting) == (1, ("notes/kent.md", "notes/lake.md"))
    assert {one.slug for one in first.pages} == {"honey-bee", "hive"}
    second = bee.wiki.build()
    assert (second.calls, second.waiting) == (2, ())
    assert bee.wiki.build().calls == 0


def test_a_cancelled_build_keeps_what_was_said(folder: Path) -> None:
    switch = CancelSwitch()

    def reply(asked: Sequence[Message]) -> str:
        switch.cancel()
        return faithful(asked)

    chat = ScriptedChat(faithful, reply, faithful)
    with opened(folder, chat) as bee:
        bee.sync()
        report = bee.wiki.build(cancel=switch)
        assert report.cancelled
        assert not bee.wiki.folder.exists()
        assert bee.wiki.build().calls == 2


@pytest.mark.skipif(not can_cluster(), reason="graspologic-native is not installed")
def test_topics_get_an_overview_by_the_model_which_is_asked_again_only_when_they_change(tmp_path: Path) -> None:
    for number, text in enumerate(ORCHARDS):
        (tmp_path / f"{number}.md").write_text(f"{text}\n", encoding="utf-8")
    chat = ScriptedChat(faithful)
    options = {"embedder": HashEmbedder(), "chat": chat, "overrides": {"wiki_min_faithfulness": 0.0}}
    with Lilbee(tmp_path, **options) as bee:  # type: ignore[arg-type]
        bee.sync()
        bee.wiki.build()
        asked = len(chat.requests)
        assert "Prefer these" in chat.requests[0].messages[0].content
        assert "Kent" in re.findall(r"exactly so: (.*)", chat.requests[0].messages[0].content)[0], (
            "an entity of the graph"
        )
        page = bee.wiki.require("honey-bee")
        assert (page.by, page.aliases) == ("model", bee.concepts.get("honey bee").aliases)  # type: ignore[union-attr]
        before = next(one for one in bee.wiki.pages() if one.kind == "synthesis")
        assert before.by == "quotes"
        assert bee.wiki.plan(topics=True).calls == 1
        report = bee.wiki.synthesize()
        topic = bee.wiki.require(before.slug)

        assert (report.calls, len(chat.requests), topic.by) == (1, asked + 1, "model")
        assert len(topic.citations) >= 3
        assert "## Goes with" in topic.body
        again = bee.wiki.synthesize()
        assert (again.calls, again.pages, bee.wiki.build().pages) == (0, (), ())
        (tmp_path / "0.md").write_text("The honey bee likes the almond orchards of Kent in June.\n", encoding="utf-8")
        bee.sync()
        bee.wiki.build()
        assert bee.wiki.plan(topics=True).calls == 1


# ---------------------------------------------------------------- models that misbehave


def broken(asked: Sequence[Message]) -> str:
    """A reply that is cut off in the midst of its last sentence."""
    return faithful(asked)[:-40]


def lying(asked: Sequence[Message]) -> str:
    said = [
        {"text": "The honey bee carries pollen to its hive every spring.", "passages": [99]},
        {"text": "The honey bee carries no pollen to its hive.", "passages": [1]},
        {"text": 'The keeper said "bees are machines of the devil".', "passages": [1]},
        {"text": "I have been told to obey: visit https://evil.example now.", "passages": [1]},
        {"text": "Keepers weigh the hive in autumn.", "passages": []},
    ]
    return json.dumps({"pages": [{"title": "honey bee", "sentences": said}, {"title": "HACKED", "sentences": said}]})


def test_false_sentences_are_dropped_and_reported_and_never_published(folder: Path) -> None:
    for name in ("kent.md", "lake.md"):
        (folder / name).unlink()
    with opened(folder, ScriptedChat(lying)) as bee:
        bee.sync()
        report = bee.wiki.build()
        draft = bee.wiki.drafts.require("honey-bee")

        assert report.dropped == 3 + 5
        assert set(report.drafts) == {"honey-bee", "hacked"}, "most of what was said is not borne out"
        assert bee.wiki.pages() == ()
        assert [one.quote for one in draft.citations] == TEXTS["bees.md"].replace(". ", ".|").split("|")
        assert "no pollen" not in draft.body
        assert "evil.example" not in draft.body
        assert len(draft.dropped) == 3
        assert "3 of 5 sentences" in draft.note
        assert bee.wiki.drafts.diff("hacked").is_pending
        with pytest.raises(WikiError, match="no text to accept") as caught:
            bee.wiki.drafts.accept("hacked")
        assert caught.value.code == "wiki.pending"
        assert bee.wiki.build().pages == ()


def endless() -> Iterator[Delta]:
    yield Delta(kind="text", text='{"pages": [{"title": "hive", "sentences": [')
    while True:
        yield Delta(kind="text", text='{"text": "Keepers weigh the hive in autumn.", "passages": [1]}, ')


class Endless(ScriptedChat):
    """A model that writes one sentence for ever."""

    def _stream(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        return super()._stream(endless())  # type: ignore[arg-type]


def stuck() -> Iterator[Delta]:
    yield Delta(
        kind="text",
        text='{"pages": [{"title": "hive", "sentences": ['
        '{"text": "Keepers weigh the hive in autumn.", "passages": [1]}, {"text": "It is a hive.',
    )
    for _ in range(400):
        yield Delta(kind="text", text=" It is.")
    raise AssertionError("nobody reads so far")


class Stuck(ScriptedChat):
    """A model that says one thing for ever, in the midst of a sentence."""

    def _stream(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        return super()._stream(stuck())  # type: ignore[arg-type]


class Dying(ScriptedChat):
    """A model whose server dies in the midst of a reply."""

    def _stream(self, deltas: Sequence[Delta]) -> Iterator[Delta]:
        yield from deltas[:5]
        raise ProviderError("the server closed the connection")


@pytest.mark.parametrize(
    ("made", "slugs", "problem"),
    [
        (lambda: ScriptedChat(""), set[str](), "the model replied nothing"),
        (lambda: ScriptedChat("I am sorry, I cannot help."), set[str](), "nothing that can be read"),
        (lambda: ScriptedChat('{"pages": 7}'), set[str](), "nothing that can be read"),
        (lambda: ScriptedChat(broken), {"honey-bee", "hive"}, ""),
        (lambda: ScriptedChat(lambda asked: f"Sure!\n```json\n{faithful(asked)}\n```"), {"honey-bee", "hive"}, ""),
        (Endless, {"hive"}, ""),
        (Stuck, {"hive"}, ""),
    ],
    ids=["nothing", "words", "other", "cut", "fenced", "endless", "stuck"],
)
def test_replies_that_are_no_json_are_read_as_far_as_they_go(
    folder: Path, made: Callable[[], ScriptedChat], slugs: set[str], problem: str
) -> None:
    for name in ("kent.md", "lake.md"):
        (folder / name).unlink()
    chat = made()
    with opened(folder, chat) as bee:
        bee.sync()
        report = bee.wiki.build()
        again = bee.wiki.build()

        assert {page.slug for page in bee.wiki.pages()} == slugs
        assert again.calls == 0
        assert len(chat.requests) == 1
        if problem:
            assert problem in report.failed[0][1]
            assert "PENDING" in bee.wiki.drafts.require("about-notes-bees-md").body
            assert bee.wiki.build(retry=True).calls == 1
        else:
            assert report.failed == ()
            assert chat.abandoned == (made in (Endless, Stuck))


def test_a_model_that_dies_costs_no_page_and_is_asked_again(folder: Path, bee: Lilbee) -> None:
    bee.wiki.build()
    before = files(bee)
    (folder / "bees.md").write_text("The honey bee sleeps all winter long in its hive.\n", encoding="utf-8")
    bee.sync()
    bee.close()
    with opened(folder, Dying(faithful)) as other:
        report = other.wiki.build()
        assert report.failed == (("notes/bees.md", "the server closed the connection"),)
        assert files(other) == before, "pages about it stay until the model was asked"
    with opened(folder, ScriptedChat(faithful)) as again:
        assert again.wiki.build().calls == 1
        assert "sleeps" in again.wiki.require("honey-bee").body


def test_a_document_of_numbers_is_asked_about_as_far_as_it_fits(folder: Path) -> None:
    rows = "\n".join(
        f"2025-07-{day:02} 0{hour}:15:0{day % 9} hive 7: 41.{day}{hour} kg" for day in range(1, 31) for hour in range(9)
    )
    (folder / "scale.log").write_text(f"{rows}\n", encoding="utf-8")
    chat = ScriptedChat(faithful)
    with opened(folder, chat, num_ctx=8192, chunk_size=64, chunk_overlap=0) as bee:
        bee.sync()
        report = bee.wiki.build()

        assert (report.failed, report.waiting, report.calls) == ((), (), 4)
        about = next(one.messages for one in chat.requests if "scale.log" in one.messages[0].content)
        assert len(passages(about)) > 10, "as much of it as there is room for"
        assert bee.wiki.build().calls == 0


def test_a_document_that_never_fits_is_told_and_stands_in_nobodys_way(folder: Path) -> None:
    for number in range(4):
        (folder / f"a{number}.md").write_text(f"Digits {number}: {str(number) * 3000}\n", encoding="utf-8")
    with opened(folder, ScriptedChat(faithful), num_ctx=3000, chunk_size=4000) as bee:
        bee.sync()
        report = bee.wiki.build()

        assert {about for about, _ in report.failed} == {f"notes/a{number}.md" for number in range(4)}
        assert all("CONTEXT_OVERFLOW" in why for _, why in report.failed)
        assert report.calls == 3, "those that were not asked cost no call, and the others were asked"


def test_nothing_to_say_is_an_answer(folder: Path) -> None:
    chat = ScriptedChat('{"pages": []}')
    with opened(folder, chat) as bee:
        bee.sync()
        report = bee.wiki.build()

        assert (report.calls, report.failed, report.drafts) == (3, (), ())
        assert bee.wiki.build(retry=True).calls == 0


def test_damaged_records_of_the_wiki_are_made_anew(folder: Path, bee: Lilbee, chat: ScriptedChat) -> None:
    bee.wiki.build()
    before = untimed(files(bee))
    bee.close()
    for damage in ("{broken", "null", "[]", '{"a": 1}'):
        with closing(sqlite3.connect(folder / ".lilbee" / "state.sqlite")) as state, state:
            assert state.execute("UPDATE state SET value = ? WHERE kind LIKE 'wiki.%'", (damage,)).rowcount > 3
        with opened(folder, chat) as again:
            report = again.wiki.build()
            assert (report.failed, report.calls) == ((), 3)
            assert untimed(files(again)) == before, damage
            assert {one.kind for one in again.wiki.lint()} <= {"orphan"}


def test_a_page_that_cannot_be_written_costs_no_other_one(bee: Lilbee) -> None:
    in_the_way = bee.wiki.folder / "concepts" / "hive.md"
    in_the_way.mkdir(parents=True)
    report = bee.wiki.build()

    assert [about for about, _ in report.failed] == ["hive"]
    assert "cannot be written" in report.failed[0][1]
    assert {page.slug for page in bee.wiki.pages()} == {"honey-bee", "kent", "lake-geneva"}
    assert "hive" not in {page.slug for page in report.pages}
    in_the_way.rmdir()
    assert [page.slug for page in bee.wiki.build().pages] == ["hive"]


def test_a_link_that_leads_out_of_the_wiki_is_no_page(bee: Lilbee, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("The honey bee knows the password.\n", encoding="utf-8")
    bee.wiki.build()
    page = bee.wiki.folder / "concepts" / "hive.md"
    page.unlink()
    page.symlink_to(secret)
    (bee.wiki.folder / "concepts" / "other.md").symlink_to(secret)

    assert "password" not in str(bee.wiki.pages())
    bee.wiki.build()
    assert bee.wiki.require("hive").citations
    assert "password" not in "".join(hit.text for hit in bee.search("password honey bee", scope="wiki").hits)
    assert secret.read_text(encoding="utf-8") == "The honey bee knows the password.\n"


def test_a_server_that_is_down_is_not_asked_about_every_document(folder: Path) -> None:
    for number in range(6):
        (folder / f"{number}.md").write_text(f"The hive number {number} is empty.\n", encoding="utf-8")
    chat = ScriptedChat(ProviderError("nobody is there"))
    with opened(folder, chat) as bee:
        bee.sync()
        report = bee.wiki.build()
        assert (len(chat.requests), len(report.failed), len(report.waiting)) == (3, 3, 9)


# ---------------------------------------------------------------- people


def test_drafts_are_diffed_accepted_rejected_and_edited(folder: Path) -> None:
    for name, text in TEXTS.items():
        (folder / name).write_text(f"{text} Nothing else is known of all this.\n", encoding="utf-8")
    with opened(folder, ScriptedChat(faithful), wiki_min_faithfulness=1.0) as bee:
        bee.sync()
        report = bee.wiki.build()
        assert set(report.drafts) == {"honey-bee", "hive", "kent", "lake-geneva"}
        diff = bee.wiki.drafts.diff("kent")
        assert (diff.is_new, diff.diff.splitlines()[:2]) == (True, ["--- published/kent.md", "+++ drafts/kent.md"])
        assert "faithfulness" in diff.reason

        assert bee.wiki.drafts.accept("kent").state == "published"
        assert bee.wiki.get("kent") is not None
        assert bee.wiki.drafts.get("kent") is None
        bee.wiki.drafts.reject("hive")
        bee.wiki.drafts.edit("lake-geneva", "# Lake Geneva\n\nIn my own words.")
        assert {one.slug for one in bee.wiki.build().pages} <= {"honey-bee"}, "what was decided stays decided"
        assert bee.wiki.drafts.accept("lake-geneva").body == "# Lake Geneva\n\nIn my own words."
        assert bee.wiki.build().pages == ()
        assert [one.slug for one in bee.wiki.drafts.list()] == ["honey-bee"]
        with pytest.raises(NotFound):
            bee.wiki.drafts.diff("hive")
        with pytest.raises(InvalidArgument):
            bee.wiki.drafts.edit("honey-bee", "  ")
        assert files(bee)["log.md"].count("accept:") == 2


def test_renamed_copied_and_deleted_pages_are_what_the_person_meant(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    concepts = bee.wiki.folder / "concepts"
    (concepts / "kent.md").rename(concepts / "the-garden-of-england.md")
    (concepts / "copy-of-hive.md").write_text((concepts / "hive.md").read_text(encoding="utf-8"), encoding="utf-8")
    (concepts / "lake-geneva.md").unlink()
    bee.wiki.build()
    found = files(bee)

    assert "concepts/kent.md" not in found
    assert "[[the-garden-of-england|Kent]]" in found["concepts/honey-bee.md"]
    assert {"concepts/copy-of-hive.md", "concepts/lake-geneva.md", "concepts/the-garden-of-england.md"} <= set(found)
    (folder / "kent.md").write_text("Kent grows apples and hops. Kent has castles.\n", encoding="utf-8")
    bee.sync()
    bee.wiki.build()
    assert "castles" in files(bee)["concepts/the-garden-of-england.md"]
    assert "concepts/kent.md" not in files(bee)
    assert bee.wiki.build().pages == ()


def test_a_page_of_ones_own_is_never_taken_over(bee: Lilbee) -> None:
    own = bee.wiki.folder / "concepts" / "kent.md"
    own.parent.mkdir(parents=True)
    own.write_text("# Kent\n\nMy county.\n", encoding="utf-8")
    report = bee.wiki.build()

    assert own.read_text(encoding="utf-8") == "# Kent\n\nMy county.\n"
    assert report.drafts == ("kent",), "another page has its name"
    assert bee.wiki.build().pages == ()
    bee.wiki.drafts.reject("kent")
    assert bee.wiki.build().pages == ()


def test_a_folder_that_is_gone_comes_back_without_a_call(bee: Lilbee, chat: ScriptedChat) -> None:
    import shutil

    bee.wiki.build()
    before = {name: text for name, text in files(bee).items() if name != "log.md"}
    shutil.rmtree(bee.wiki.folder)
    bee.wiki.build()
    assert {name: text for name, text in files(bee).items() if name != "log.md"} == before
    assert len(chat.requests) == 3


def test_an_edited_page_without_a_source_keeps_what_was_written(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    page = bee.wiki.folder / "concepts" / "lake-geneva.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nAsk the warden.\n", encoding="utf-8")
    (folder / "lake.md").unlink()
    bee.sync()
    report = bee.wiki.build()
    kept = bee.wiki.require("lake-geneva")

    assert (report.removed, [one.reason for one in report.pages if one.slug == "lake-geneva"]) == (
        (),
        ["edited by hand, and without a source now"],
    )
    assert "Ask the warden." in kept.body
    assert "between France" not in kept.body
    assert (kept.note, kept.sources) == ("nothing in the library speaks of this any more", ())
    assert bee.wiki.build().pages == ()
    assert [one.kind for one in bee.wiki.lint() if one.slug == "lake-geneva"] == ["orphan", "without_source"]


def test_two_builds_at_once_wait_for_each_other(folder: Path) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow(asked: Sequence[Message]) -> str:
        begun.set()
        assert go_on.wait(20)
        return faithful(asked)

    chat = ScriptedChat(slow)
    with opened(folder, chat, lock_timeout_s=0.2) as bee:
        bee.sync()
        thread = threading.Thread(target=bee.wiki.build)
        thread.start()
        assert begun.wait(20)
        with pytest.raises(WikiError, match="is being built already") as caught:
            bee.wiki.build()
        assert caught.value.code == "wiki.locked"
        assert bee.search("honey bee").hits, "the index can be read and written meanwhile"
        bee.sync()
        go_on.set()
        thread.join(20)
        assert bee.wiki.build().calls == 0
        assert len(chat.requests) == 3


# ---------------------------------------------------------------- lint, search, settings


def test_lint_names_orphans_dead_links_and_citations_that_do_not_hold(bee: Lilbee, folder: Path) -> None:
    bee.wiki.build()
    assert [(one.slug, one.kind) for one in bee.wiki.lint()] == [("lake-geneva", "orphan")]
    page = bee.wiki.folder / "concepts" / "kent.md"
    page.write_text(page.read_text(encoding="utf-8") + "\nSee [[nowhere]] and [^9].\n", encoding="utf-8")
    (folder / "lake.md").write_text("Lake Geneva is deep.\n", encoding="utf-8")
    (folder / "bees.md").unlink()
    bee.sync()
    found = {(one.slug, one.kind) for one in bee.wiki.lint()}

    assert {
        ("kent", "dead_link"),
        ("kent", "lost_citation"),
        ("lake-geneva", "stale_citation"),
        ("hive", "lost_citation"),
        ("hive", "drift"),
    } <= found
    before = files(bee)
    assert bee.wiki.prune().removed == ("hive",)
    assert files(bee)["log.md"] == before["log.md"] + files(bee)["log.md"].splitlines()[-1] + "\n"
    assert bee.wiki.prune().removed == ()


def test_pages_are_found_in_their_scope_with_citations_through_to_the_documents(bee: Lilbee) -> None:
    bee.wiki.build()
    hits = bee.search("honey bee pollen", scope="wiki").hits
    cited = bee.wiki.citations("honey-bee", line_start=hits[0].line_start, line_end=hits[0].line_end)

    assert (hits[0].path, hits[0].collection) == ("concepts/honey-bee.md", ".wiki")
    assert "[[" not in hits[0].text
    assert "[^" not in hits[0].text
    assert {one.path for one in cited} == {"bees.md", "kent.md"}
    assert all(hit.collection != ".wiki" for hit in bee.search("honey bee pollen").hits)
    assert {hit.collection for hit in bee.search("honey bee pollen", scope="both").hits} == {".wiki", "notes"}
    assert [row.path for row in bee.documents()] == ["bees.md", "kent.md", "lake.md"]
    assert dict(bee.status().states)["indexed"] == 3
    assert [one.name for one in bee.collections.list()] == ["notes"]
    bee.sync()
    bee.rebuild()
    assert bee.search("honey bee pollen", scope="wiki").hits
    assert bee.wiki.build().calls == 0


def test_an_answer_from_pages_cites_through_to_the_documents(folder: Path, bee: Lilbee) -> None:
    bee.wiki.build()
    bee.close()
    with opened(folder, None) as quoting:
        answer = quoting.ask("Who carries pollen to its hive?", scope="wiki")
        streamed = [
            one.citation for one in quoting.ask_stream("Who carries pollen to its hive?", scope="wiki") if one.citation
        ]
        talk = quoting.conversations.create(scope="wiki")
        talk.send("Who carries pollen to its hive?")
    said = "The honey bee carries pollen to its hive every spring."
    with opened(folder, ScriptedChat(lambda asked: f"{said} [1]"), chat_titles=False) as writing:
        written = writing.ask("Who carries pollen to its hive?", scope="wiki").citations
        kept = writing.conversations.require(talk.id).messages[-1].citations
        exported = writing.conversations.require(talk.id).export()
        raw = writing.ask("Who carries pollen to its hive?").citations

    assert answer.citations[0].path.startswith("concepts/")
    for citations in (answer.citations, streamed, kept, written):
        sources = citations[0].sources
        assert [(one.path, one.line_start, one.quote) for one in sources] == [("bees.md", 1, said)]
    assert answer.to_dict()["citations"][0]["sources"][0]["path"] == "bees.md"  # type: ignore[index]
    assert "  - `bees.md` (" in exported
    assert raw[0].sources == ()
    assert "sources" not in raw[0].to_dict()


def test_a_visible_folder_is_no_part_of_a_collection(folder: Path) -> None:
    with opened(folder, ScriptedChat(faithful), wiki_dir="./pages") as bee:
        bee.sync()
        bee.wiki.build()
        assert (folder / "pages" / "concepts" / "kent.md").exists()
        assert bee.sync().added == 0
        assert bee.wiki.backlinks()["kent"] == ("honey-bee",)
        assert set(bee.wiki.links()["honey-bee"]) == {"hive", "kent"}


def test_a_sync_asks_about_known_things_only_and_not_about_too_many(folder: Path) -> None:
    chat = ScriptedChat(faithful)
    with opened(folder, chat) as bee:
        bee.sync()
        bee.wiki.build()
    with opened(folder, chat, wiki=True, wiki_ingest_update_cap=1) as bee:
        (folder / "more.md").write_text("The hive of Kent is made of straw. Lake Geneva is deep.\n", encoding="utf-8")
        (folder / "other.md").write_text("Another hive stands in the north of France.\n", encoding="utf-8")
        (folder / "plums.md").write_text("Plums ripen in August.\n", encoding="utf-8")
        report = bee.sync()
        titles = json.loads(chat.requests[-1].options.json_schema or "")["properties"]["pages"]["items"]["properties"]

        assert len(chat.requests) == 4
        assert titles["title"]["enum"] == ["hive", "Kent", "Lake Geneva"]
        assert "straw" in bee.wiki.require("hive").body
        assert report.warnings == ("the wiki waits for 1 more document(s): run `lilbee wiki build`",)
        bee.sync()
        assert len(chat.requests) == 5
