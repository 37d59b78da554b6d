"""Three steps side by side: nothing is lost or doubled, and every way out ends."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from lilbee_core.background import foreground
from lilbee_core.errors import Cancelled, StoreError
from lilbee_core.ingest import BatchLimits
from lilbee_core.testing import HashEmbedder, MemoryStore, Switch
from lilbee_core.types import Document, Vectors
from tests.support.ingesting import Shelf, counts


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "root")


def pipeline_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name in ("lilbee-read", "lilbee-embed")]


def ends(condition: Callable[[], bool], within_s: float = 10.0) -> bool:
    """Wait for something that another thread does."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize(
    "limits",
    [
        BatchLimits(documents=1),
        BatchLimits(documents=7),
        BatchLimits(chars=20),
        BatchLimits(seconds=0.0),
        BatchLimits(in_flight_bytes=1),
        BatchLimits(part_chunks=1),
        BatchLimits(part_chunks=1, in_flight_bytes=1, documents=2),
    ],
)
def test_all_limits_give_the_same_index(shelf: Shelf, limits: BatchLimits) -> None:
    for n in range(30):
        shelf.write(f"{n:02}.md", f"bird number {n} " * (1 + n * 2))
    shelf.limits = limits
    assert counts(shelf.sync()) == {"added": 30}
    assert len(shelf.indexed()) == 30
    assert shelf.store.check() == ()
    assert shelf.store.stats().embedded == shelf.store.stats().chunks
    assert pipeline_threads() == []


def test_a_sync_waits_for_a_search(shelf: Shelf) -> None:
    shelf.sync()
    shelf.write("bird.md", "the heron")
    said: list[str] = []
    put = shelf.store.put
    shelf.store.put = lambda documents: (said.append("written"), put(documents))[1]  # type: ignore[method-assign]
    thread = threading.Thread(target=shelf.sync, daemon=True)
    with foreground():
        thread.start()
        thread.join(0.15)
        said.append("searched")
    thread.join(30)
    assert said == ["searched", "written"]


def test_batches_hold_at_most_so_many_documents(shelf: Shelf) -> None:
    sizes: list[int] = []
    put = shelf.store.put
    shelf.store.put = lambda documents: (sizes.append(len(documents)), put(documents))[1]  # type: ignore[method-assign]
    for n in range(20):
        shelf.write(f"{n:02}.md", f"bird number {n}")
    shelf.limits = BatchLimits(documents=8)
    shelf.sync()
    assert sum(sizes) == 20
    assert max(sizes) <= 8


def test_a_failing_store_ends_the_sync_with_its_error(shelf: Shelf) -> None:
    for n in range(200):
        shelf.write(f"{n:03}.md", f"bird number {n}")
    calls = []
    put = shelf.store.put

    def fill(documents: object) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise StoreError("the disk is full", hint="Free some.", code="store.full")
        put(documents)  # type: ignore[arg-type]

    shelf.store.put = fill  # type: ignore[method-assign]
    shelf.limits = BatchLimits(documents=4)
    with pytest.raises(StoreError, match="disk is full"):
        shelf.sync()
    assert ends(lambda: pipeline_threads() == [])
    shelf.store.put = put  # type: ignore[method-assign]
    assert counts(shelf.sync()) == {"added": 196, "unchanged": 4}
    assert shelf.store.check() == ()


@pytest.mark.parametrize("error", [RuntimeError("a bug"), KeyboardInterrupt()])
def test_a_reader_that_breaks_ends_the_sync_with_its_error(shelf: Shelf, error: BaseException) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")

    def fail() -> None:
        raise error

    shelf.reader.trouble["b.md"] = fail
    with pytest.raises(type(error)):
        shelf.sync()
    assert ends(lambda: pipeline_threads() == [])
    assert shelf.indexed() == {"a.md": "the heron"}


def test_an_interrupt_in_the_writer_leaves_no_thread_and_a_whole_index(shelf: Shelf) -> None:
    for n in range(50):
        shelf.write(f"{n:02}.md", f"bird number {n}")
    shelf.limits = BatchLimits(documents=4)
    put = shelf.store.put

    def interrupt(documents: object) -> None:
        raise KeyboardInterrupt

    shelf.store.put = interrupt  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        shelf.sync()
    assert ends(lambda: pipeline_threads() == [])
    shelf.store.put = put  # type: ignore[method-assign]
    assert counts(shelf.sync()) == {"added": 50}


def test_a_cancelled_sync_does_not_wait_for_a_slow_file(shelf: Shelf) -> None:
    """What was prepared before is written; the file that hangs is left to itself."""
    started, release = threading.Event(), threading.Event()
    switch = Switch()

    def hang() -> None:
        started.set()
        release.wait(30)

    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.reader.trouble["b.md"] = hang
    reports = []
    worker = threading.Thread(target=lambda: reports.append(shelf.sync(cancel=switch)))
    worker.start()
    try:
        assert started.wait(10)
        switch.cancel()
        worker.join(10)
        assert not worker.is_alive(), "it waits for the slow file"
        assert reports[0].cancelled
        assert shelf.indexed() == {"a.md": "the heron"}
    finally:
        release.set()
    assert ends(lambda: pipeline_threads() == [])
    del shelf.reader.trouble["b.md"]
    assert counts(shelf.sync()) == {"added": 1, "unchanged": 1}


def test_a_file_that_was_being_read_when_somebody_gave_up_stays_as_it_is(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.sync()
    shelf.write("b.md", "the godwit, later")
    shelf.reader.trouble["b.md"] = Cancelled("interrupted")
    shelf.sync()
    assert shelf.states() == {"a.md": "indexed", "b.md": "indexed"}
    assert shelf.indexed()["b.md"] == "the godwit"
    del shelf.reader.trouble["b.md"]
    assert counts(shelf.sync()) == {"updated": 1, "unchanged": 1}


def test_a_cancelled_run_does_not_wait_for_an_endless_source(shelf: Shelf) -> None:
    switch, release = Switch(), threading.Event()

    def documents() -> Iterator[Document]:
        yield Document(path="a", text="the heron")
        switch.cancel()
        release.wait(30)
        yield Document(path="b", text="the godwit")

    report = shelf.ingestor.add_documents(documents(), switch)
    release.set()
    assert report.cancelled
    assert [row.path for row in shelf.store.rows()] == ["a"]
    assert ends(lambda: pipeline_threads() == [])


def test_a_slow_file_does_not_hold_up_the_batch_before_it(shelf: Shelf) -> None:
    seen: list[int] = []

    def look() -> None:
        assert ends(lambda: bool(shelf.store.rows().__next__()), within_s=10)
        seen.append(len(list(shelf.store.rows())))

    shelf.limits = BatchLimits(seconds=0.05)
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")

    def wait() -> None:
        assert ends(lambda: len(list(shelf.store.rows())) == 1), "the first document waits for the second"
        seen.append(1)

    shelf.reader.trouble["b.md"] = wait
    assert counts(shelf.sync()) == {"added": 2}
    assert seen == [1]


# ------------------------------------------------------------------ big documents


def big_text(lines: int, mark: str = "") -> str:
    return "".join(f"line {n} of the {mark} logbook: buoy {n * 7919 % 10_007} was lit\n" for n in range(lines))


def test_a_big_document_is_written_in_parts(shelf: Shelf) -> None:
    shelf.limits = BatchLimits(part_chunks=8)
    text = big_text(400)
    shelf.write("big.log", text)
    shelf.write("small.md", "the heron")
    report = shelf.sync()
    assert counts(report) == {"added": 2}
    row = shelf.store.find("notes", "big.log")
    assert row is not None
    chunks = shelf.store.chunks_of(row.id)
    assert row.chunks == len(chunks) > 50
    assert report.chunks == row.chunks + 1
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.text == text[chunk.span.start : chunk.span.end] for chunk in chunks)
    assert shelf.text("big.log") == text
    assert shelf.store.stats().embedded == shelf.store.stats().chunks
    assert shelf.store.check() == ()


def test_only_the_changed_end_of_a_big_document_is_embedded(shelf: Shelf) -> None:
    shelf.limits = BatchLimits(part_chunks=8)
    shelf.write("big.log", big_text(300))
    shelf.sync()
    identity = shelf.id_of("big.log")
    shelf.write("big.log", big_text(310))
    report = shelf.sync()
    assert counts(report) == {"updated": 1}
    assert 0 < report.embedded < 12
    assert shelf.id_of("big.log") == identity
    assert shelf.text("big.log") == big_text(310)
    assert shelf.store.check() == ()


def test_a_big_document_that_fails_in_the_middle_is_a_failure(shelf: Shelf) -> None:
    from tests.core.ingest.test_sync import BrokenFor

    shelf.limits = BatchLimits(part_chunks=4)
    shelf.write("big.log", big_text(200))
    shelf.write("other.md", "the heron")
    whole = shelf.chunker
    shelf.chunker = BrokenFor("big.log", whole, after=20)
    report = shelf.sync()
    assert counts(report) == {"added": 1, "failed": 1}
    assert shelf.states() == {"big.log": "failed", "other.md": "indexed"}
    assert shelf.store.check() == ()
    shelf.chunker = whole
    assert counts(shelf.sync(retry_failed=True)) == {"added": 1, "unchanged": 1}
    shelf.write("big.log", big_text(210))
    shelf.chunker = BrokenFor("big.log", whole, after=20)
    assert counts(shelf.sync()) == {"failed": 1, "removed": 1, "unchanged": 1}
    assert list(shelf.indexed()) == ["other.md"]


def test_a_big_document_that_is_cancelled_is_as_before(shelf: Shelf) -> None:
    shelf.limits = BatchLimits(part_chunks=4)
    shelf.write("big.log", big_text(200, "first"))
    shelf.sync()
    before = shelf.text("big.log")
    shelf.write("big.log", big_text(200, "second"))
    report = shelf.sync(cancel=Switch(after=14))
    assert report.cancelled
    assert shelf.text("big.log") == before
    assert shelf.store.check() == ()
    assert counts(shelf.sync()) == {"updated": 1}
    assert "second" in shelf.text("big.log")


class Refusing(MemoryStore):
    """Refuses the third part of a document."""

    error: Exception

    def stage(self, text):  # type: ignore[no-untyped-def, override]
        inner = super().stage(text)
        error = self.error

        class Guard:
            def __enter__(self) -> Guard:
                self.staged, self.parts = inner.__enter__(), 0
                return self

            def __exit__(self, *details: object) -> None:
                inner.__exit__(*details)  # type: ignore[arg-type]

            def add(self, pieces: object) -> None:
                self.parts += 1
                if self.parts == 3:
                    raise error
                self.staged.add(pieces)  # type: ignore[arg-type]

            def publish(self, row: object) -> None:
                self.staged.publish(row)  # type: ignore[arg-type]

        return Guard()


def test_a_part_that_the_store_refuses_costs_its_document(shelf: Shelf) -> None:
    from lilbee_core.errors import InvalidArgument

    shelf.store = Refusing()
    shelf.store.error = InvalidArgument("half a surrogate", hint="Mend it.")
    shelf.limits = BatchLimits(part_chunks=4)
    shelf.write("big.log", big_text(200))
    shelf.write("other.md", "the heron")
    assert counts(shelf.sync()) == {"added": 1, "failed": 1}
    assert shelf.states() == {"big.log": "failed", "other.md": "indexed"}


def test_a_full_disk_in_the_middle_of_a_big_document(shelf: Shelf) -> None:
    shelf.store = Refusing()
    shelf.store.error = StoreError("the disk is full", hint="Free some.", code="store.full")
    shelf.limits = BatchLimits(part_chunks=4)
    shelf.write("big.log", big_text(200))
    with pytest.raises(StoreError, match="full"):
        shelf.sync()
    assert shelf.store.check() == ()
    assert shelf.indexed() == {}


def test_a_chunker_need_not_stream(shelf: Shelf) -> None:
    inner = shelf.chunker

    class Plain:
        fingerprint = "plain"

        def split(self, document, document_id):  # type: ignore[no-untyped-def]
            return inner.split(document, document_id)

    shelf.chunker = Plain()
    shelf.limits = BatchLimits(part_chunks=4)
    shelf.write("big.log", big_text(100))
    assert counts(shelf.sync()) == {"added": 1}
    assert shelf.text("big.log") == big_text(100)


def test_a_document_of_exactly_one_part(shelf: Shelf) -> None:
    shelf.write("a.md", "word " * 60)
    shelf.sync()
    count = shelf.store.stats().chunks
    for part in (count - 1, count, count + 1):
        shelf.limits = BatchLimits(part_chunks=part)
        assert counts(shelf.sync(force=True)) == {"updated": 1}
        assert shelf.store.stats().chunks == count


# ------------------------------------------------------------------ documents from memory


def test_documents_from_memory_that_cannot_be_named_cost_themselves(shelf: Shelf) -> None:
    documents = [
        Document(path="", text="x"),
        Document(path="a\x00b", text="x"),
        Document(path="\ud800", text="x"),
        Document(path="a", text="x", collection="a/b"),
        Document(path="a", text="x", collection=".."),
        Document(path="good", text="the heron"),
    ]
    report = shelf.ingestor.add_documents(documents, Switch())
    assert counts(report) == {"added": 1, "failed": 5}
    assert {one.code for one in report.failed} == {"argument.invalid"}


def test_a_document_from_memory_takes_the_place_of_a_failure(shelf: Shelf) -> None:
    shelf.write("a.bin", b"\x00")
    shelf.sync()
    report = shelf.ingestor.add_documents([Document(path="a.bin", text="the heron", collection="notes")], Switch())
    assert counts(report) == {"added": 1}
    assert shelf.states() == {"a.bin": "indexed"}


def test_a_broken_document_from_memory_leaves_no_row(shelf: Shelf) -> None:
    from tests.core.ingest.test_sync import BrokenFor

    shelf.ingestor.add_documents([Document(path="a", text="the heron")], Switch())
    shelf.chunker = BrokenFor("a", shelf.chunker)
    report = shelf.ingestor.add_documents(
        [Document(path="a", text="the egret"), Document(path="b", text="the knot")], Switch()
    )
    assert counts(report) == {"added": 1, "failed": 1, "removed": 1}
    assert shelf.states() == {"b": "indexed"}


def test_a_source_that_raises_ends_the_run_after_what_came_before(shelf: Shelf) -> None:
    def documents() -> Iterator[Document]:
        yield Document(path="a", text="the heron")
        raise ValueError("the database went away")

    with pytest.raises(ValueError, match="went away"):
        shelf.ingestor.add_documents(documents(), Switch())
    assert [row.path for row in shelf.store.rows()] == ["a"]


def test_documents_of_folders_and_of_memory_live_side_by_side(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.ingestor.add_documents([Document(path="m", text="the godwit", collection="notes")], Switch())
    assert counts(shelf.sync()) == {"added": 1}
    (shelf.folder / "a.md").unlink()
    shelf.write("b.md", "the knot")
    assert counts(shelf.sync()) == {"added": 1, "removed": 1}
    assert set(shelf.indexed()) == {"m", "b.md"}


# ------------------------------------------------------------------ cancel while embedding


def test_cancelling_while_embedding_commits_the_words(shelf: Shelf) -> None:
    switch = Switch()

    class Slow(HashEmbedder):
        def embed_batch(self, texts):  # type: ignore[no-untyped-def]
            switch.cancel()
            return super().embed_batch(texts)

    shelf.embedder = Slow()
    for n in range(100):
        shelf.write(f"{n:03}.md", f"bird number {n} " * 20)
    report = shelf.sync(cancel=switch)
    assert report.cancelled
    assert shelf.store.check() == ()
    assert report.added == len(shelf.indexed())
    shelf.embedder = HashEmbedder()
    resumed = shelf.sync()
    assert report.added + resumed.added == 100
    assert resumed.owed == 0
    assert shelf.store.stats().embedded == shelf.store.stats().chunks


def test_cancelled_is_no_error_of_a_document(shelf: Shelf) -> None:
    def cancel() -> None:
        raise Cancelled("stop", hint="Go on later.")

    shelf.write("a.md", "the heron")
    shelf.reader.trouble["a.md"] = cancel
    assert counts(shelf.sync()) == {}


@pytest.mark.skipif(sys.platform != "linux", reason="threads have no priority of their own")
def test_the_steps_let_searches_go_first(shelf: Shelf) -> None:
    shelf.write("one.md", "a bird")
    seen: dict[str, int] = {}
    embedder = HashEmbedder()
    embed_batch = embedder.embed_batch

    def watched(texts: Sequence[str]) -> Vectors:
        thread = threading.current_thread()
        seen[thread.name] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        return embed_batch(texts)

    embedder.embed_batch = watched  # type: ignore[method-assign]
    shelf.embedder = embedder
    before = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
    shelf.sync()
    assert os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) == before
    assert seen["lilbee-embed"] == min(before + 5, 19)
