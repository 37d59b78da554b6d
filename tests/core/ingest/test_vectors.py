"""Vectors: reused, made in time, owed when an embedder fails, and paid later."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from lilbee_core.errors import InputTooLong, ModelNotFound, ProviderError, ProviderUnavailable
from lilbee_core.ingest import BatchLimits
from lilbee_core.testing import HashEmbedder, ManualClock
from lilbee_core.types import Vectors
from tests.support.ingesting import Shelf, counts


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "root")


def embedder_of(shelf: Shelf) -> HashEmbedder:
    assert isinstance(shelf.embedder, HashEmbedder)
    return shelf.embedder


def test_equal_text_is_embedded_once(shelf: Shelf) -> None:
    for name in "abc":
        shelf.write(f"{name}.md", "the same words in every file")
    report = shelf.sync()
    assert report.embedded == 1
    assert shelf.store.stats().embedded == 3
    shelf.write("d.md", "the same words in every file")
    assert shelf.sync().embedded == 0


def test_vectors_outlive_edits_of_other_parts(shelf: Shelf) -> None:
    text = "\n\n".join(f"## Part {n}\n\nThe bird of part {n} stands by the weir number {n}." for n in range(12))
    shelf.write("a.md", text)
    first = shelf.sync()
    shelf.write("a.md", text.replace("part 7 stands", "part 7 sleeps"))
    assert 0 < shelf.sync().embedded < first.embedded


@pytest.mark.parametrize("error", [ProviderUnavailable("no answer", hint="Start it."), ValueError("a bug in a plugin")])
def test_an_embedder_that_fails_owes_its_vectors(shelf: Shelf, error: Exception) -> None:
    shelf.write("a.md", "the heron")
    embedder = embedder_of(shelf)
    embedder.fail(error)  # type: ignore[arg-type]
    report = shelf.sync()
    assert (counts(report), report.embedded, report.owed) == ({"added": 1}, 0, 1)
    assert "words are searchable, vectors follow" in report.warnings[0]
    assert embedder.calls == 1, "a server that is down was asked again"
    embedder.recover()
    report = shelf.sync()
    assert (counts(report), report.embedded, report.owed, report.warnings) == ({"unchanged": 1}, 1, 0, ())


class Fails(HashEmbedder):
    """Fails after some texts, or for some."""

    def __init__(self, *, after: int | None = None, bad: str = "", error: ProviderError | None = None) -> None:
        super().__init__()
        self.after, self.bad = after, bad
        self.error = error or ProviderError("refused", hint="Look into it.")

    def embed_batch(self, texts: Sequence[str]) -> Vectors:
        if self.after is not None and len(self.texts) >= self.after:
            raise ProviderUnavailable("gone", hint="Start it.")
        if self.bad and any(self.bad in text for text in texts):
            raise self.error
        return super().embed_batch(texts)


def test_an_embedder_that_fails_in_the_middle(shelf: Shelf) -> None:
    for n in range(30):
        shelf.write(f"{n:02}.md", f"bird number {n}")
    shelf.embedder = Fails(after=5)
    shelf.limits = BatchLimits(documents=5)
    report = shelf.sync()
    assert (report.added, report.embedded, report.owed) == (30, 5, 25)
    shelf.embedder = HashEmbedder()
    report = shelf.sync()
    assert (report.embedded, report.owed) == (25, 0)
    assert shelf.store.stats().embedded == 30


@pytest.mark.parametrize("error", [None, InputTooLong("too long", hint="Cut it.")])
def test_a_text_that_is_refused_costs_only_itself(shelf: Shelf, error: ProviderError | None) -> None:
    for n in range(20):
        shelf.write(f"{n:02}.md", f"bird number {n}")
    shelf.write("bad.md", "poison in here")
    shelf.embedder = Fails(bad="poison", error=error)
    report = shelf.sync()
    assert (report.added, report.embedded, report.owed) == (21, 20, 1)
    assert "1 passage(s) could not be embedded" in report.warnings[0]
    assert (shelf.sync().owed, len(shelf.indexed())) == (1, 21)


def test_an_embedder_that_refuses_everything_is_given_up(shelf: Shelf) -> None:
    for n in range(40):
        shelf.write(f"{n:02}.md", f"bird number {n}")
    shelf.embedder = Fails(bad="bird", error=ProviderError("no credit", hint="Pay."))
    report = shelf.sync()
    assert (report.added, report.embedded, report.owed) == (40, 0, 40)
    assert "the embedder failed (no credit)" in report.warnings[0]


def test_a_model_that_is_not_there_is_asked_once(shelf: Shelf) -> None:
    for n in range(9):
        shelf.write(f"{n}.md", f"bird number {n}")
    embedder = embedder_of(shelf)
    embedder.fail(ModelNotFound("no such model", hint="Pull it."))
    assert shelf.sync().owed == 9
    assert embedder.calls == 1


def test_texts_go_out_in_batches_across_files(shelf: Shelf) -> None:
    for n in range(150):
        shelf.write(f"{n:03}.md", f"bird number {n}")
    sizes: list[int] = []

    class Counting(HashEmbedder):
        def embed_batch(self, texts: Sequence[str]) -> Vectors:
            sizes.append(len(texts))
            return super().embed_batch(texts)

    shelf.embedder = Counting()
    shelf.sync()
    assert sum(sizes) == 150
    assert max(sizes) <= 64
    assert len(sizes) <= 6


def test_a_slow_embedder_does_not_hold_up_the_words(shelf: Shelf) -> None:
    """Once the time of a batch is over, its words are written; what was embedded by then is not embedded again."""
    clock = ManualClock()

    class Slow(HashEmbedder):
        def embed_batch(self, texts: Sequence[str]) -> Vectors:
            clock.advance(len(texts) * 1.0)
            return super().embed_batch(texts)

    shelf.clock, shelf.embedder = clock, Slow()
    shelf.limits = BatchLimits(seconds=5.0, documents=1000)
    shelf.write("long.md", "\n\n".join(f"## Part {n}\n\nThe bird of part {n} stands by the weir." for n in range(200)))
    report = shelf.sync()
    stats = shelf.store.stats()
    assert report.owed == 0
    assert stats.embedded == stats.chunks > 100
    assert report.embedded == stats.chunks


def test_the_rate_of_the_embedder_decides_how_much_is_a_batch(shelf: Shelf) -> None:
    from lilbee_core.ingest._vectors import VectorSource

    clock = ManualClock()

    class Slow(HashEmbedder):
        def embed_batch(self, texts: Sequence[str]) -> Vectors:
            clock.advance(len(texts) / 40)
            return super().embed_batch(texts)

    source = VectorSource(shelf.store, Slow(), clock=clock, batch_size=256, seconds=5.0)
    assert source.batch_chunks == 256
    source.embed({str(n): f"text {n}" for n in range(100)})
    assert source.batch_chunks == 200
    without = VectorSource(shelf.store, None, clock=clock, batch_size=256, seconds=5.0)
    assert without.batch_chunks > 1000
    assert not without.available


def test_a_big_document_gets_its_vectors_in_the_end(shelf: Shelf) -> None:
    clock = ManualClock()

    class Slow(HashEmbedder):
        def embed_batch(self, texts: Sequence[str]) -> Vectors:
            clock.advance(len(texts) * 0.2)
            return super().embed_batch(texts)

    shelf.clock, shelf.embedder = clock, Slow()
    shelf.limits = BatchLimits(part_chunks=50, seconds=2.0)
    shelf.write("big.log", "".join(f"line {n}: buoy {n * 7919 % 10_007} was lit at noon\n" for n in range(2000)))
    report = shelf.sync()
    stats = shelf.store.stats()
    assert (report.owed, stats.embedded) == (0, stats.chunks)
    assert shelf.store.check() == ()


def test_an_index_that_had_vectors_is_asked_for_them(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    (shelf.folder / "a.md").unlink()
    shelf.write("sub/b.txt", "the heron")  # another ending: read anew, not moved
    assert shelf.sync().embedded == 0
