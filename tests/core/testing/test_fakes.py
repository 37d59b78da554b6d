"""Fakes do what a test tells them to."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest

from lilbee_core.errors import Cancelled, InputTooLong, LibraryError, ProviderUnavailable
from lilbee_core.events import BatchCommitted, Warned
from lilbee_core.protocols import Launch
from lilbee_core.testing import (
    DirectExecutor,
    FakeLauncher,
    HashEmbedder,
    HashProvider,
    ManualClock,
    MemoryStore,
    ReadContext,
    RecordingSink,
    ScriptedChat,
    ScriptedReranker,
    StageContext,
    Switch,
    an_indexed_document,
)
from lilbee_core.testing.fakes import hash_vector, words_of
from lilbee_core.types import ChatOptions, Delta, Filter, Message

ASKED = (Message(role="user", content="What makes honey?"),)


class TestHashing:
    def test_words_are_folded(self) -> None:
        assert words_of("Die KÖNIGIN, die Café-Straße!") == ["die", "konigin", "die", "cafe", "strasse"]

    def test_texts_that_share_words_are_near(self) -> None:
        one, two, three = map(hash_vector, ("bees find home", "Bees find flowers", "honey keeps for years"))
        assert one @ two > 0.4 > one @ three

    def test_the_numbers_are_the_same_everywhere(self) -> None:
        assert np.flatnonzero(hash_vector("bees")).tolist() == [int.from_bytes(_digest("bees"), "big") % 64]

    @pytest.mark.parametrize("text", ["", "!?", "\ud800", "🐝"])
    def test_every_text_has_a_direction(self, text: str) -> None:
        assert np.linalg.norm(hash_vector(text)) == pytest.approx(1)

    def test_words_that_cancel_each_other_out_have_one_too(self) -> None:
        first, second = (hash_vector(word, 1)[0] for word in ("a", "b"))
        opposite = next(word for word in "abcdefgh" if hash_vector(word, 1)[0] != first)
        assert {float(first), float(second)} <= {1.0, -1.0}
        assert hash_vector(f"a {opposite}", 1).tolist() == [1.0]


def _digest(word: str) -> bytes:
    import hashlib

    return hashlib.blake2b(word.encode(), digest_size=8).digest()


class TestEmbedders:
    def test_calls_are_counted_and_texts_kept(self) -> None:
        embedder = HashEmbedder()
        embedder.embed_batch(["a", "b"])
        embedder.embed("c")
        embedder.embed_query("d")
        embedder.embed_query_batch(["e"])
        assert (embedder.texts, embedder.queries, embedder.calls) == (["a", "b", "c"], ["d", "e"], 4)

    def test_it_fails_as_often_as_told(self) -> None:
        embedder = HashEmbedder()
        embedder.fail(times=2)
        for _ in range(2):
            with pytest.raises(ProviderUnavailable):
                embedder.embed("a")
        assert len(embedder.embed("a")) == 64
        assert embedder.texts == ["a"]

    def test_it_fails_until_it_recovers(self) -> None:
        provider = HashProvider()
        provider.fail(InputTooLong("too long", hint="Cut it."))
        for _ in range(3):
            with pytest.raises(InputTooLong):
                provider.embed(["a"])
        provider.recover()
        assert provider.embed(["a"]).shape == (1, 64)

    def test_it_takes_its_time(self) -> None:
        clock = ManualClock()
        embedder = HashEmbedder(clock=clock)
        embedder.delay_s = 2.5
        embedder.embed_batch(["a"])
        assert clock.sleeps == [2.5]

    def test_its_size_is_chosen(self) -> None:
        embedder = HashEmbedder(8, model="fake/small", languages=("en",), max_tokens=5)
        assert (embedder.dimension, embedder.fingerprint, embedder.max_tokens) == (8, "fake/small-8", 5)
        assert embedder.embed("a").shape == (8,)


class TestScripts:
    def test_replies_come_in_order_and_the_last_is_repeated(self) -> None:
        chat = ScriptedChat("One. ", "Two.")
        replies = ["".join(delta.text for delta in chat.chat(ASKED)) for _ in range(3)]
        assert replies == ["One. ", "Two.", "Two."]
        assert chat.abandoned == 0

    def test_a_reply_comes_word_by_word(self) -> None:
        assert [delta.text for delta in ScriptedChat("Bees make it.").chat(ASKED)] == ["Bees", " make", " it."]

    def test_a_reply_may_be_made_from_the_question(self) -> None:
        chat = ScriptedChat(lambda messages: messages[-1].content.upper())
        assert "".join(delta.text for delta in chat.chat(ASKED)) == "WHAT MAKES HONEY?"

    def test_a_reply_may_be_prepared(self) -> None:
        deltas = [Delta(kind="reasoning", text="Hm."), Delta(kind="text", text="Bees.")]
        assert list(ScriptedChat(deltas).chat(ASKED)) == deltas

    def test_a_reply_may_be_an_error(self) -> None:
        chat = ScriptedChat(ProviderUnavailable("down", hint="Start it."), "Bees.")
        with pytest.raises(ProviderUnavailable):
            chat.chat(ASKED)
        assert list(chat.chat(ASKED))

    def test_requests_are_kept(self) -> None:
        chat = ScriptedChat()
        list(chat.chat(ASKED, ChatOptions(temperature=0.7)))
        assert chat.requests[0].messages == ASKED
        assert chat.requests[0].options.temperature == 0.7

    def test_abandoned_replies_are_counted(self) -> None:
        chat = ScriptedChat("One two three.")
        reply = chat.chat(ASKED)
        next(reply)
        reply.close()  # type: ignore[attr-defined]
        assert chat.abandoned == 1

    def test_a_reranker_counts_shared_words_unless_told_otherwise(self) -> None:
        reranker = ScriptedReranker({"honey": 0.9})
        assert reranker.score("bees at home", ["Bees!", "home of bees", "honey"]) == (1 / 3, 2 / 3, 0.9)
        assert reranker.rank("", ["bees"]) == (0.0,)
        assert reranker.requests[1] == ("", ("bees",))


class TestEdges:
    def test_the_clock_moves_when_told(self) -> None:
        clock = ManualClock()
        before = clock.now()
        clock.sleep(60)
        clock.advance(30)
        assert (clock.now() - before).total_seconds() == clock.monotonic() == 90
        assert clock.sleeps == [60]

    def test_the_executor_works_when_asked(self) -> None:
        executor, done = DirectExecutor(), list[int]()
        results = executor.map(lambda n: done.append(n) or n * 2, [1, 2])
        assert (done, next(results), done) == ([1], 2, [1])
        assert executor.calls == 1

    def test_the_sink_keeps_events(self) -> None:
        sink = RecordingSink()
        sink(Warned(message="a"))
        sink(BatchCommitted(documents=1, chunks=2))
        assert sink.of(Warned) == [Warned(message="a")]
        assert sink.names == ["Warned", "BatchCommitted"]

    def test_the_switch_cancels_after_some_questions(self) -> None:
        switch = Switch(after=1)
        switch.check()
        with pytest.raises(Cancelled):
            switch.check()
        assert switch.checks == 2

    def test_the_switch_cancels_when_told(self) -> None:
        context, reading = StageContext(), ReadContext()
        context.check()
        reading.check()
        context.switch.cancel()
        reading.switch.cancel()
        for one in (context, reading):
            with pytest.raises(Cancelled):
                one.check()

    def test_the_launcher_remembers(self) -> None:
        launcher = FakeLauncher()
        first = launcher.start(Launch(command=("llama-server",)))
        second = launcher.start(Launch(command=("llama-server", "--port", "1")))
        first.exit(1, "out of memory", "bye")
        assert launcher.running == [second]
        assert first.log_tail(1) == "bye"
        assert second.launch.command[1:] == ("--port", "1")

    def test_the_launcher_can_fail_once(self) -> None:
        launcher = FakeLauncher()
        launcher.fail()
        with pytest.raises(FileNotFoundError):
            launcher.start(Launch(command=("llama-server",)))
        assert launcher.start(Launch(command=("llama-server",))).poll() is None

    def test_processes_can_be_prepared(self) -> None:
        launcher = FakeLauncher(lambda process: process.exit(7))
        assert launcher.start(Launch(command=("x",))).wait(1.0) == 7

    def test_a_process_may_need_to_be_killed(self) -> None:
        process = FakeLauncher().start(Launch(command=("x",)))
        process.ignores_terminate = True
        process.terminate()
        assert process.poll() is None
        process.kill()
        assert process.poll() == -9


class TestMemoryStore:
    def test_commits_are_named(self) -> None:
        store = MemoryStore(an_indexed_document("bees"))
        store.remove([])
        assert store.commits == ["put", "remove"]

    def test_readers_in_other_threads_see_whole_commits(self) -> None:
        store = MemoryStore()
        documents = [an_indexed_document("bees", path=f"{n}.txt") for n in range(40)]
        seen: set[int] = set()
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                seen.add(store.count())

        reader = threading.Thread(target=read)
        reader.start()
        for _ in range(20):
            store.put(documents)
            store.remove([one.row.id for one in documents])
        stop.set()
        reader.join()
        assert seen <= {0, 40}

    def test_what_fails_changes_nothing(self) -> None:
        store = MemoryStore()
        good = an_indexed_document("bees", path="a.txt")
        with pytest.raises(Exception, match="as many words"):
            store.put([good, replace(an_indexed_document("honey", path="b.txt"), words=())])
        assert store.count() == 0
        assert store.commits == []

    @pytest.mark.parametrize(
        ("pattern", "path", "matches"),
        [
            ("[ab]*.txt", "sub/bees.txt", True), ("[!ab]*.txt", "bees.txt", False), ("sub/?.txt", "sub/b.txt", True),
            ("sub/?.txt", "sub/x/b.txt", False), ("./notes/", "notes/b.txt", True), ("a/b", "a/b/c.txt", True),
            ("a/b", "x/a/b/c.txt", False), ("**/c.txt", "c.txt", True), ("a.b", "a+b", False), ("[", "[", True),
        ],
    )  # fmt: skip
    def test_globs(self, pattern: str, path: str, matches: bool) -> None:
        store = MemoryStore(an_indexed_document("bees", path=path))
        assert store.count(filters=Filter(paths=(pattern,))) == matches

    def test_members_have_types_too(self) -> None:
        from lilbee_core.types import Location

        place = {"location": Location(member="inner/report.PDF")}
        store = MemoryStore(an_indexed_document("bees", path="mail.eml", chunk=place))
        assert store.count(filters=Filter(media_types=("pdf",))) == 1

    def test_it_is_closed_for_good(self) -> None:
        store = MemoryStore()
        store.close()
        with pytest.raises(LibraryError), store.writing():
            pass

    def test_check_names_wrong_counts(self) -> None:
        document = an_indexed_document("bees", "honey")
        store = MemoryStore(document)
        store.record([replace(document.row, chunks=9)])
        assert store.check() == ("notes/bees.txt has 2 of 9 chunks",)
