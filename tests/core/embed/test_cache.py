"""The embedding cache: exact, bounded, shared, and never a reason to fail."""

from __future__ import annotations

import logging
import os
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.embed._cache import EmbeddingCache, cache_key

DAY_S = 86_400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "embeddings.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[EmbeddingCache]:
    with EmbeddingCache(path) as cache:
        yield cache


def entries(start: int, count: int, size: int = 1536) -> dict[bytes, bytes]:
    return {cache_key("space", str(number)): os.urandom(size) for number in range(start, start + count)}


def test_what_was_put_comes_back_byte_for_byte(cache: EmbeddingCache) -> None:
    some = entries(0, 1300)  # more than fit one query
    cache.put(some)
    assert cache.get(list(some)) == some
    assert cache.get([*list(some)[:2], cache_key("space", "unknown")]) == dict(list(some.items())[:2])
    assert cache.get([]) == {}


def test_it_survives_a_restart(path: Path) -> None:
    some = entries(0, 10)
    with EmbeddingCache(path) as first:
        first.put(some)
    with EmbeddingCache(path) as second:
        assert second.get(list(some)) == some


def test_a_later_put_replaces(cache: EmbeddingCache) -> None:
    cache.put({b"key": b"old"})
    cache.put({b"key": b"newer"})
    assert cache.get([b"key"]) == {b"key": b"newer"}


def test_nothing_is_opened_before_it_is_used(path: Path) -> None:
    EmbeddingCache(path).close()
    assert not path.parent.exists()


def test_closed_is_closed(cache: EmbeddingCache) -> None:
    cache.put({b"key": b"vector"})
    cache.close()
    cache.close()
    with pytest.raises(ValueError, match="closed"):
        cache.get([b"key"])


def test_a_limit_must_be_positive(path: Path) -> None:
    with pytest.raises(ValueError, match="max_mb must be positive, got 0"):
        EmbeddingCache(path, max_mb=0)


@given(
    one=st.tuples(st.text(), st.text()),
    other=st.tuples(st.text(), st.text()),
)
def test_keys_tell_embedders_and_texts_apart(one: tuple[str, str], other: tuple[str, str]) -> None:
    legal = [pair for pair in (one, other) if "\0" not in pair[0]]  # a fingerprint holds no zero byte
    assert len({cache_key(*pair) for pair in legal}) == len(set(legal))


def test_half_a_surrogate_pair_has_a_key() -> None:
    assert len(cache_key("space", "\ud800")) == 16


def test_the_file_stays_within_its_limit_and_the_longest_unused_go_first(path: Path) -> None:
    today = [0.0]
    with EmbeddingCache(path, max_mb=2, now=lambda: today[0]) as cache:
        old, kept = entries(0, 300), entries(1000, 300)
        cache.put(old)
        cache.put(kept)
        today[0] = 3 * DAY_S
        assert len(cache.get(list(kept))) == 300  # used again, three days later
        for start in range(2000, 4000, 100):
            today[0] += DAY_S / 1000
            cache.put(entries(start, 100))
            assert path.stat().st_size <= 2_200_000
            if start < 2500:
                assert len(cache.get(list(kept))) == 300
        assert cache.get(list(old)) == {}
    assert sum(file.stat().st_size for file in path.parent.iterdir()) <= 2_200_000


def test_a_lower_limit_shrinks_the_file(path: Path) -> None:
    with EmbeddingCache(path, max_mb=10) as cache:
        cache.put(entries(0, 4000))
    assert path.stat().st_size > 6_000_000
    with EmbeddingCache(path, max_mb=1) as cache:
        cache.put(entries(5000, 1))
    assert path.stat().st_size < 1_200_000


def damaged(path: Path, damage: Callable[[bytes], bytes]) -> None:
    with EmbeddingCache(path) as cache:
        cache.put(entries(0, 400))
    path.write_bytes(damage(path.read_bytes()))


@pytest.mark.parametrize(
    "damage",
    [
        lambda blob: b"this is not a database" * 400,
        lambda blob: blob[:100] + os.urandom(len(blob) - 100),
        lambda blob: blob[: len(blob) // 2],
    ],
    ids=["another file", "overwritten", "truncated"],
)
def test_a_damaged_file_is_moved_aside(
    path: Path, damage: Callable[[bytes], bytes], caplog: pytest.LogCaptureFixture
) -> None:
    damaged(path, damage)
    with EmbeddingCache(path) as cache:
        cache.get(list(entries(0, 400)))
        some = entries(9000, 50)
        cache.put(some)
        assert cache.get(list(some)) == some
    assert path.with_name("embeddings.sqlite.damaged").is_file()
    assert "the embedding cache was damaged" in caplog.text
    with EmbeddingCache(path) as cache:
        assert cache.get(list(some)) == some


def test_a_changed_vector_is_not_returned(path: Path) -> None:
    with EmbeddingCache(path) as cache:
        cache.put({b"key": b"vector" * 50, b"other": b"fine"})
    with sqlite3.connect(path) as connection:
        (blob,) = connection.execute("SELECT vector FROM vectors WHERE key = ?", (b"key",)).fetchone()
        connection.execute("UPDATE vectors SET vector = ? WHERE key = ?", (blob[:-1] + b"?", b"key"))
    connection.close()
    with EmbeddingCache(path) as cache:
        assert cache.get([b"key", b"other"]) == {b"other": b"fine"}
        cache.put({b"key": b"vector"})
        assert cache.get([b"key"]) == {b"key": b"vector"}


@pytest.mark.parametrize("change", ["DROP TABLE vectors", "PRAGMA user_version = 99"])
def test_another_layout_is_begun_anew(path: Path, change: str) -> None:
    with EmbeddingCache(path) as cache:
        cache.put({b"key": b"vector"})
    connection = sqlite3.connect(path)
    connection.execute(change)
    connection.close()
    with EmbeddingCache(path) as cache:
        assert cache.get([b"key"]) == {}
        cache.put({b"key": b"vector"})
        assert cache.get([b"key"]) == {b"key": b"vector"}


@pytest.mark.parametrize("obstacle", ["the folder is a file", "the file is a folder"])
def test_where_nothing_can_be_written_nothing_is_cached(
    tmp_path: Path, obstacle: str, caplog: pytest.LogCaptureFixture
) -> None:
    if obstacle == "the folder is a file":
        (tmp_path / "cache").write_text("")
    else:
        (tmp_path / "cache" / "embeddings.sqlite").mkdir(parents=True)
    with caplog.at_level(logging.WARNING), EmbeddingCache(tmp_path / "cache" / "embeddings.sqlite") as cache:
        for _ in range(3):
            cache.put({b"key": b"vector"})
            assert cache.get([b"key"]) == {}
    assert len(caplog.records) == 1
    assert "embeddings are not cached" in caplog.text


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on file sizes")
def test_a_full_disk_switches_it_off(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    import resource

    with EmbeddingCache(path) as cache:
        cache.put({b"key": b"vector"})
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, hard))
        try:
            for start in range(0, 5000, 1000):
                cache.put(entries(start, 1000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "embeddings are not cached" in caplog.text
    with EmbeddingCache(path) as cache:
        assert cache.get([b"key"]) == {b"key": b"vector"}


def test_a_locked_file_is_passed_over(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with EmbeddingCache(path) as cache:
        cache.put({b"before": b"vector"})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with caplog.at_level(logging.WARNING), EmbeddingCache(path, busy_s=0.01) as cache:
        cache.put({b"key": b"vector"})
        assert cache.get([b"before", b"key"]) == {b"before": b"vector"}
        other.execute("COMMIT")
        other.close()
        cache.put({b"key": b"vector"})
        assert cache.get([b"key"]) == {b"key": b"vector"}
    assert caplog.records == []


def test_a_read_marks_nothing_while_somebody_writes(path: Path) -> None:
    with EmbeddingCache(path, now=lambda: 0.0) as cache:
        cache.put({b"key": b"vector"})
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with EmbeddingCache(path, busy_s=0.01, now=lambda: 9.0 * DAY_S) as cache:
        assert cache.get([b"key"]) == {b"key": b"vector"}
        other.execute("COMMIT")
        other.close()
        assert cache.get([b"key"]) == {b"key": b"vector"}
        cache.close()
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT used FROM vectors").fetchall() == [(9,)]
    connection.close()


def test_threads_may_share_it(cache: EmbeddingCache) -> None:
    def work(number: int) -> bool:
        some = entries(number * 100, 50)
        cache.put(some)
        return cache.get(list(some)) == some

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


@pytest.mark.slow
def test_processes_may_share_the_file(path: Path) -> None:
    code = """
        import sys
        from pathlib import Path
        from lilbee_core.embed._cache import EmbeddingCache, cache_key
        with EmbeddingCache(Path(sys.argv[1]), max_mb=50) as cache:
            for batch in range(20):
                names = [f"{batch} {number}" for number in range(50)]
                some = {cache_key(sys.argv[2], name): name.encode() for name in names}
                cache.put(some)
                assert cache.get(list(some)) == some, "lost"
    """
    running = [
        subprocess.Popen(
            [sys.executable, "-W", "error", "-c", textwrap.dedent(code), str(path), name],
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in "abcdef"
    ]
    for process in running:
        _, problems = process.communicate(timeout=120)
        assert (process.returncode, problems) == (0, "")
    with EmbeddingCache(path) as cache:
        keys = [cache_key(name, f"{batch} {n}") for name in "abcdef" for batch in range(20) for n in range(50)]
        assert len(cache.get(keys)) == 6000
