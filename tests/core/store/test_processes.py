"""Writers that are killed, writers that meet, readers that watch."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from lilbee_core.store import Store
from lilbee_core.types import Chunk, DocumentId
from tests.core.store._build import Words, ids
from tests.core.store._workers import edition, finish, own_documents, start, write_editions

DOCUMENTS, EDITIONS, KILLS = 12, 3, 4


def is_whole(chunks: tuple[Chunk, ...]) -> bool:
    """Say whether these are all the chunks of one edition of one document."""
    if not chunks:
        return True
    now = int(chunks[0].text.split()[0].removeprefix("edition"))
    number = int(chunks[0].document_id.removeprefix("doc"))
    return [chunk.text for chunk in chunks] == [chunk.text for chunk in edition(number, now).chunks]


def mixtures(store: Store) -> list[str]:
    return [str(n) for n in range(DOCUMENTS) if not is_whole(store.chunks_of(DocumentId(f"doc{n}")))]


def everything(store: Store) -> list[object]:
    found: list[object] = []
    for row in store.rows():
        vectors = store.vectors([chunk.id for chunk in store.chunks_of(row.id)])
        numbers = sorted((id_, vector.tobytes()) for id_, vector in vectors.items())
        found.append((row, store.chunks_of(row.id), store.text(row.id), numbers))
    return found


@pytest.mark.slow
def test_a_writer_killed_anywhere_and_run_again_leaves_what_an_undisturbed_one_leaves(tmp_path: Path) -> None:
    undisturbed, killed = str(tmp_path / "undisturbed"), str(tmp_path / "killed")
    started = time.monotonic()
    write_editions(undisturbed, DOCUMENTS, EDITIONS)
    took = time.monotonic() - started
    chance = random.Random(5)
    with Store.open(killed) as reader:
        for _ in range(KILLS):
            process = start("write_editions", killed, DOCUMENTS, EDITIONS)
            until = time.monotonic() + 1.5 + chance.random() * took
            while time.monotonic() < until and process.poll() is None:
                assert mixtures(reader) == []
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert mixtures(reader) == []
            assert all(is_whole(reader.chunks_of(row.id)) for row in reader.rows())
        finish(start("write_editions", killed, DOCUMENTS, EDITIONS))
        assert reader.check() == ()
        with Store.open(undisturbed) as other:
            assert everything(reader) == everything(other)
            for word in ("edition3", "part1", "edition1"):
                assert ids(reader.lexical(Words(word), limit=100)) == ids(other.lexical(Words(word), limit=100))


@pytest.mark.slow
def test_four_writers_lose_and_double_nothing(tmp_path: Path) -> None:
    rounds = 6
    processes = [start("own_documents", str(tmp_path), worker, rounds) for worker in range(4)]
    with Store.open(tmp_path) as reader:
        while any(process.poll() is None for process in processes):
            assert all(len(reader.chunks_of(row.id)) in (0, 2) for row in reader.rows())
        for process in processes:
            finish(process)
        expected = {f"w{w}-{t}-{k}" for w in range(4) for t in range(rounds) for k in range(3) if k or t == rounds - 1}
        assert {row.id for row in reader.rows()} == expected
        assert reader.count() == 2 * len(expected)
        assert reader.check() == ()


@pytest.mark.slow
def test_a_reader_follows_a_writer_in_the_same_process(tmp_path: Path) -> None:
    with Store.open(tmp_path) as writer, Store.open(tmp_path) as reader:
        own_documents(str(tmp_path), 0, 2)
        seen = reader.count()
        writer.put([edition(0, 1)])
        assert reader.count() == seen + len(edition(0, 1).chunks)
        assert reader.version == writer.version
