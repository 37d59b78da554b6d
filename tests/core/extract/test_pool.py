"""The pool: every file gets an answer, and a bad one costs itself only (R032, R033)."""

from __future__ import annotations

import os
import queue
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled, ExtractError, LilbeeError, LimitExceeded, PluginError, UnsupportedFormat
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.extract._jobs import Job
from lilbee_core.extract._lane import Lane
from lilbee_core.extract._recipes import importable
from lilbee_core.extract._wire import Recipe, Setup
from lilbee_core.plugins.specs import ExtractorSpec
from lilbee_core.types import Document, Source
from tests.core.extract import _samples


@pytest.fixture
def registry() -> ExtractorRegistry:
    return ExtractorRegistry((*builtin_extractors(), *_samples.SPECS))


@pytest.fixture
def pool(registry: ExtractorRegistry) -> Iterator[ExtractPool]:
    with ExtractPool(registry, workers=2, timeout_s=20, memory_mb=1024, max_chars=100_000) as pool:
        yield pool


def results(pool: ExtractPool, *sources: Source) -> dict[str, Document | LilbeeError]:
    return {source.path: result for source, result in pool.extract(sources)}


def text_of(result: Document | LilbeeError) -> str:
    assert isinstance(result, Document), result
    return result.text


def sample(what: str, path: str = "") -> Source:
    return Source(collection="c", path=path or what, media_type=f"x-acme/{what}", data=b"bytes")


def test_a_text_file_is_read_without_any_worker(pool: ExtractPool, tmp_path: Path) -> None:
    file = tmp_path / "a.txt"
    file.write_bytes(b"one\r\ntwo\n")
    source = Source(collection="c", path="a.txt", media_type="", file=str(file))
    [(seen, document)] = pool.extract([source])
    assert isinstance(document, Document)
    assert (document.text, document.extractor) == ("one\ntwo\n", "text/2")
    assert seen.media_type == document.media_type == "text/plain"
    assert pool.worker_pids() == ()


def test_other_files_are_read_in_worker_processes(pool: ExtractPool) -> None:
    found = results(pool, sample("pid", "a"), sample("pid", "b"))
    assert os.getpid() not in {int(text_of(result)) for result in found.values()}
    assert {int(text_of(result)) for result in found.values()} <= set(pool.worker_pids())
    assert {result.extractor for result in found.values() if isinstance(result, Document)} == {"acme-sample/7"}


def test_a_crash_costs_one_file(pool: ExtractPool) -> None:
    found = results(pool, *(sample("pid", f"{n}") for n in range(4)), sample("crash"), sample("pid", "after"))
    error = found.pop("crash")
    assert isinstance(error, ExtractError)
    assert error.code == "extract.crashed"
    assert "crash" in error.message
    assert all(isinstance(result, Document) for result in found.values())
    assert len(found) == 5


def test_a_worker_spoilt_by_an_earlier_file_does_not_cost_a_later_one(registry: ExtractorRegistry) -> None:
    with ExtractPool(registry, workers=1, timeout_s=20, memory_mb=1024, max_chars=1000) as pool:
        found = results(pool, sample("crash_later"), sample("slow"))
    assert text_of(found["slow"]) == "slow"


def test_a_file_that_hangs_is_given_up(registry: ExtractorRegistry) -> None:
    with ExtractPool(registry, workers=1, timeout_s=2, memory_mb=1024, max_chars=1000) as pool:
        found = results(pool, sample("pid", "before"), sample("hang"), sample("pid", "after"))
    error = found["hang"]
    assert isinstance(error, LimitExceeded)
    assert "hang was not read within 2 seconds" in error.message
    assert text_of(found["before"]) != text_of(found["after"])


@pytest.mark.parametrize("what", [pytest.param("allocate", marks=pytest.mark.slow), "rust_abort", "deep", "long"])
def test_files_beyond_the_limits_are_named(pool: ExtractPool, what: str) -> None:
    error = results(pool, sample(what))[what]
    assert isinstance(error, LimitExceeded)
    assert what in error.message
    assert error.hint
    if what in {"allocate", "rust_abort"}:
        assert re.search(r"more memory than the limit of [\d,]+ MB", error.message)
        assert "extract_memory_mb" in error.hint


def test_memory_is_watched_where_the_process_cannot_limit_itself() -> None:
    jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
    found: list[Document | LilbeeError] = []
    setup = Setup(
        parent_pid=os.getpid(), memory_mb=8192, cache_dir="", native_dir="", max_chars=99, password=None, languages=()
    )
    lane = Lane(jobs, lambda: setup, timeout_s=60, memory_mb=200, recycle_after=9)
    builder = importable(_samples.build)
    assert builder is not None
    job = Job(
        sample("swell"), lambda _, result: found.append(result), recipe=Recipe(name="acme-sample", builder=builder)
    )
    lane.start()
    jobs.put(job)
    deadline = time.monotonic() + 30
    while not job.done and time.monotonic() < deadline:
        lane.watch()
        time.sleep(0.02)
    lane.stop()
    jobs.put(None)
    lane.join()
    assert isinstance(found[0], LimitExceeded)
    assert "more memory" in found[0].message


def test_code_is_read_as_text_when_its_parser_is_lost() -> None:
    spec = ExtractorSpec(name="code", media_types=("text/x-*",), build=_samples.build)
    source = Source(collection="c", path="a.py", media_type="text/x-crash", data=b"def f(): pass\n")
    with ExtractPool(ExtractorRegistry([spec]), workers=1, timeout_s=20) as pool:
        [(_, result)] = pool.extract([source])
    assert text_of(result) == "def f(): pass\n"
    assert isinstance(result, Document)
    assert "read as plain text" in result.warnings[0]


def test_errors_of_extractors_arrive_whole(pool: ExtractPool) -> None:
    error = results(pool, sample("no_text"))["no_text"]
    assert isinstance(error, ExtractError)
    assert (error.code, error.message, error.hint) == ("extract.no_text", "no_text is empty", "do it")


@pytest.mark.parametrize("what", ["bug", "nothing"])
def test_bugs_of_extractors_become_plain_errors(pool: ExtractPool, what: str) -> None:
    error = results(pool, sample(what))[what]
    assert isinstance(error, ExtractError)
    assert error.code == "extract.failed"
    assert "engine internals" not in error.message


def test_a_result_that_cannot_travel_is_the_plugins_fault(pool: ExtractPool) -> None:
    found = results(pool, sample("unpicklable"), sample("pid"))
    assert isinstance(found["unpicklable"], PluginError)
    assert isinstance(found["pid"], Document)


def test_noise_stays_in_the_worker(pool: ExtractPool, capfd: pytest.CaptureFixture[str]) -> None:
    assert text_of(results(pool, sample("noise"))["noise"]) == "quiet"
    assert capfd.readouterr() == ("", "")


def test_options_and_context_reach_the_worker(registry: ExtractorRegistry) -> None:
    options = {"acme-sample": {"greeting": "hi"}}
    with ExtractPool(
        registry,
        workers=1,
        timeout_s=20,
        memory_mb=1024,
        max_chars=99,
        options=options,
        password="p",
        languages=("de",),
    ) as pool:
        assert text_of(results(pool, sample("options"))["options"]) == "hi p de"


def test_wrong_options_are_told_for_each_file(registry: ExtractorRegistry) -> None:
    options = {"acme-sample": {"greeting": ["no"]}}
    with ExtractPool(registry, workers=1, timeout_s=20, memory_mb=1024, max_chars=99, options=options) as pool:
        found = results(pool, sample("pid", "a"), sample("pid", "b"))
    assert all(isinstance(error, PluginError) and "acme-sample" in error.message for error in found.values())


def test_an_extractor_that_cannot_be_built_costs_its_files_only(pool: ExtractPool) -> None:
    broken = Source(collection="c", path="b", media_type="x-broken/a", data=b"")
    found = results(pool, broken, sample("pid"))
    assert isinstance(found["b"], PluginError)
    assert "no licence key" in found["b"].message
    assert isinstance(found["pid"], Document)


def test_unknown_formats_say_so(pool: ExtractPool) -> None:
    found = results(pool, Source(collection="c", path="a.zzz", media_type="", data=bytes(range(256)) * 8))
    error = found["a.zzz"]
    assert isinstance(error, UnsupportedFormat)
    assert "binary data" in error.message


def test_in_process_plugins_run_here(pool: ExtractPool) -> None:
    source = Source(collection="c", path="a", media_type="x-here/pid", data=b"")
    assert text_of(results(pool, source)["a"]) == str(os.getpid())


def _local_spec() -> ExtractorSpec:
    return ExtractorSpec(name="local", media_types=("x-acme/*",), priority=9, build=lambda *_: _samples.Sample())


def test_plugins_that_live_in_this_process_run_on_a_thread() -> None:
    registry = ExtractorRegistry([_local_spec()])
    with ExtractPool(registry, workers=1, timeout_s=0.3, memory_mb=1024, max_chars=99) as pool:
        found = results(pool, sample("pid"), sample("polite"), sample("bug"))
        assert text_of(found["pid"]) == str(os.getpid())
        assert isinstance(found["polite"], LimitExceeded)
        assert isinstance(found["bug"], ExtractError)
        assert pool.worker_pids() == ()


def test_sources_are_taken_only_when_there_is_room(pool: ExtractPool) -> None:
    taken: list[int] = []

    def endless() -> Iterator[Source]:
        for number in range(10_000):
            taken.append(number)
            yield sample("pid", str(number))

    iterator = pool.extract(endless())
    for _ in range(20):
        next(iterator)
    assert len(taken) <= 20 + 2 * 2 + 1
    iterator.close()


class Gauge:
    """Reads files on threads and counts how many it reads at once. All wait for each other as long as they can."""

    name, version, in_process = "gauge", "1", False

    def __init__(self, expected: int) -> None:
        self.most = self.now = 0
        self.lock = threading.Lock()
        self.meeting = threading.Barrier(expected)

    def extract(self, source: Source, context: object) -> Document:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        with suppress(threading.BrokenBarrierError):
            self.meeting.wait(timeout=0.5)
        with self.lock:
            self.now -= 1
        return Document(path=source.path, text="read")


@pytest.mark.parametrize("in_flight", [1, 3])
def test_no_more_files_are_read_at_once_than_asked_for(in_flight: int) -> None:
    gauge = Gauge(in_flight)
    spec = ExtractorSpec(name="gauge", media_types=("x-acme/*",), priority=9, build=lambda *_: gauge)
    with ExtractPool(ExtractorRegistry([spec]), workers=4, in_flight=in_flight, timeout_s=20) as pool:
        found = results(pool, *(sample("pid", str(number)) for number in range(200)))
    assert len(found) == 200
    assert gauge.most == in_flight


def test_closing_the_iterator_gives_up_what_is_being_read(pool: ExtractPool) -> None:
    iterator = pool.extract([sample("pid"), sample("hang", "1"), sample("hang", "2"), sample("hang", "3")])
    assert next(iterator)[0].path == "pid"
    started = time.monotonic()
    iterator.close()
    assert isinstance(results(pool, sample("pid"))["pid"], Document)
    assert time.monotonic() - started < 10


def test_check_stops_the_work(pool: ExtractPool) -> None:
    calls = 0

    def check() -> None:
        nonlocal calls
        calls += 1
        if calls > 3:
            raise Cancelled("enough")

    with pytest.raises(Cancelled):
        list(pool.extract([sample("hang")], check=check))
    assert isinstance(results(pool, sample("pid"))["pid"], Document)


def test_two_calls_at_once_keep_their_results_apart(pool: ExtractPool) -> None:
    first = pool.extract([sample("pid", f"a{n}") for n in range(6)])
    second = pool.extract([sample("pid", f"b{n}") for n in range(6)])
    seen = [(next(first)[0].path, next(second)[0].path) for _ in range(6)]
    assert {a for a, _ in seen} == {f"a{n}" for n in range(6)}
    assert {b for _, b in seen} == {f"b{n}" for n in range(6)}


def test_a_closed_pool_refuses_work_and_closes_again(registry: ExtractorRegistry) -> None:
    pool = ExtractPool(registry, workers=1, timeout_s=5, memory_mb=1024, max_chars=99)
    results(pool, sample("pid"))
    [pid] = pool.worker_pids()
    pool.close()
    pool.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(ValueError, match="closed"):
        list(pool.extract([sample("pid")]))


def test_senseless_settings_are_refused(registry: ExtractorRegistry) -> None:
    with pytest.raises(ValueError, match="workers"):
        ExtractPool(registry, workers=-1, timeout_s=1, memory_mb=1, max_chars=1)
    with pytest.raises(ValueError, match="in_flight"):
        ExtractPool(registry, in_flight=-1)
    with pytest.raises(ValueError, match="timeout_s"):
        ExtractPool(registry, workers=1, timeout_s=0, memory_mb=1, max_chars=1)
