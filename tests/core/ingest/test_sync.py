"""A sync makes the index equal to the folder (R017, R018, R025, R248)."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled, ExtractError, SourceUnavailable
from lilbee_core.events import DocumentMoved, DocumentRemoved, SyncFinished, SyncPlanned
from lilbee_core.ingest import BatchLimits, Found, Root, WalkOptions
from lilbee_core.ingest._plan import compare
from lilbee_core.ingest._survey import sha256_of
from lilbee_core.testing import HashEmbedder, ManualClock, Switch
from lilbee_core.types import DocumentId, DocumentState, FileStamp
from tests.support.ingesting import LONG_AGO_NS, Shelf, counts

DAY_NS = 86_400 * 10**9


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path / "root")


def test_new_changed_and_deleted_files(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("sub/b.md", "the godwit")
    assert counts(shelf.sync()) == {"added": 2}
    assert counts(shelf.sync()) == {"unchanged": 2}
    shelf.write("a.md", "the heron flies")
    (shelf.folder / "sub/b.md").unlink()
    shelf.write("c.md", "the dunlin")
    assert counts(shelf.sync()) == {"added": 1, "updated": 1, "removed": 1}
    assert shelf.indexed() == {"a.md": "the heron flies", "c.md": "the dunlin"}
    assert shelf.store.check() == ()


def test_nothing_is_read_or_hashed_while_stats_are_equal(shelf: Shelf) -> None:
    for n in range(5):
        shelf.write(f"{n}.md", f"note {n}")
    shelf.sync()
    shelf.reader.read.clear()

    def refuse(*arguments: object) -> str:
        raise AssertionError("a file was hashed")

    shelf.digest = refuse
    assert counts(shelf.sync()) == {"unchanged": 5}
    assert shelf.reader.read == []


def test_a_touched_file_is_hashed_and_left_alone(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    shelf.reader.read.clear()
    before = shelf.id_of("a.md")
    shelf.touch("a.md")
    report = shelf.sync()
    assert counts(report) == {"unchanged": 1}
    assert (report.embedded, shelf.reader.read, shelf.id_of("a.md")) == (0, [], before)
    row = shelf.store.find("notes", "a.md")
    assert row is not None
    assert row.mtime_ns == (shelf.folder / "a.md").stat().st_mtime_ns


def test_the_day_of_a_file_follows_a_touch(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    later = LONG_AGO_NS + 400 * 86_400 * 10**9
    os.utime(shelf.folder / "a.md", ns=(later, later))
    assert counts(shelf.sync()) == {"unchanged": 1}
    day = datetime.fromtimestamp(later / 1e9, UTC).astimezone().date().isoformat()
    row = shelf.store.find("notes", "a.md")
    assert row is not None
    assert row.date == day
    assert [chunk.date for chunk in shelf.store.chunks_of(row.id)] == [day]


def test_a_file_older_than_1970_has_its_own_date(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    os.utime(shelf.folder / "a.md", ns=(-DAY_NS, -8_000 * DAY_NS))
    shelf.sync()
    row = shelf.store.find("notes", "a.md")
    assert row is not None
    assert row.date == (datetime(1970, 1, 1, tzinfo=UTC) - timedelta(days=8_000)).astimezone().date().isoformat()
    assert row.date < "1950"
    os.utime(shelf.folder / "a.md", ns=(-DAY_NS, -DAY_NS))
    shelf.sync()
    touched = shelf.store.find("notes", "a.md")
    assert touched is not None
    assert (touched.date or "").startswith(("1969-12-3", "1970-01-01"))
    assert counts(shelf.sync()) == {"unchanged": 1}


def test_a_file_that_changed_when_it_was_read_is_hashed_once_more(shelf: Shelf) -> None:
    file = shelf.write("a.md", "heron")
    now = shelf.clock.now().timestamp()
    os.utime(file, (now, now))
    stamp = file.stat().st_mtime_ns
    shelf.sync()
    file.write_text("egret")  # as long as before, and within the tick of the clock
    os.utime(file, ns=(stamp, stamp))
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.text("a.md") == "egret"


def test_a_clock_that_was_set_back_hides_no_change(shelf: Shelf) -> None:
    shelf.clock = ManualClock(datetime(2031, 1, 1, tzinfo=UTC))
    shelf.write("a.md", "heron")
    shelf.sync()
    shelf.clock = ManualClock(datetime(2020, 1, 1, tzinfo=UTC))
    file = shelf.folder / "a.md"
    file.write_text("egret")
    os.utime(file, (1_500_000_000, 1_500_000_000))
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.text("a.md") == "egret"
    assert counts(shelf.sync()) == {"unchanged": 1}


# ------------------------------------------------------------------ moves


def test_a_moved_file_keeps_identity_and_vectors(shelf: Shelf) -> None:
    shelf.write("inbox/report.md", "the kestrel sits on the pylon")
    shelf.sync()
    identity = shelf.id_of("inbox/report.md")
    (shelf.folder / "archive").mkdir()
    (shelf.folder / "inbox/report.md").rename(shelf.folder / "archive/report.md")
    shelf.reader.read.clear()
    report = shelf.sync()
    assert counts(report) == {"moved": 1}
    assert (report.embedded, shelf.reader.read) == (0, [])
    assert shelf.id_of("archive/report.md") == identity
    assert list(shelf.indexed()) == ["archive/report.md"]
    assert shelf.sink.of(DocumentMoved)[0].old_path == "inbox/report.md"
    (chunk,) = shelf.store.chunks_of(shelf.store.rows().__next__().id)
    assert chunk.path == "archive/report.md"


def test_files_that_change_places_keep_their_identities(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.sync()
    a, b = shelf.id_of("a.md"), shelf.id_of("b.md")
    (shelf.folder / "a.md").rename(shelf.folder / "x")
    (shelf.folder / "b.md").rename(shelf.folder / "a.md")
    (shelf.folder / "x").rename(shelf.folder / "b.md")
    report = shelf.sync()
    assert counts(report) == {"moved": 2}
    assert report.embedded == 0
    assert (shelf.id_of("a.md"), shelf.id_of("b.md")) == (b, a)
    assert shelf.indexed() == {"a.md": "the godwit", "b.md": "the heron"}
    assert counts(shelf.sync()) == {"unchanged": 2}


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def test_files_of_equal_size_and_time_that_change_places_are_noticed(shelf: Shelf) -> None:
    files = [shelf.write(name, text) for name, text in (("a.md", "heron"), ("b.md", "egret"))]
    for file in files:
        os.utime(file, ns=(LONG_AGO_NS, LONG_AGO_NS))
    shelf.sync()
    a, b = shelf.id_of("a.md"), shelf.id_of("b.md")
    swap(*files)
    shelf.reader.read.clear()
    report = shelf.sync()
    assert counts(report) == {"moved": 2}
    assert (report.embedded, shelf.reader.read) == (0, [])
    assert (shelf.id_of("a.md"), shelf.id_of("b.md")) == (b, a)
    assert shelf.indexed() == {"a.md": "egret", "b.md": "heron"}
    assert counts(shelf.sync()) == {"unchanged": 2}


def test_a_file_that_takes_the_place_of_one_alike_is_read(shelf: Shelf) -> None:
    file = shelf.write("a.md", "heron")
    shelf.sync()
    before = file.stat()
    other = shelf.write("other", "egret")
    os.utime(other, ns=(before.st_atime_ns, before.st_mtime_ns))
    other.replace(file)
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.text("a.md") == "egret"


def test_files_of_a_copied_library_are_hashed_once_and_not_read(shelf: Shelf, tmp_path: Path) -> None:
    for n in range(5):
        shelf.write(f"{n}.md", f"bird number {n}")
    shelf.sync()
    shelf.reader.read.clear()
    shutil.copytree(shelf.folder, tmp_path / "copy")
    shutil.rmtree(shelf.folder)
    shelf.folder = tmp_path / "copy"
    hashed: list[str] = []
    shelf.digest = lambda file, cancel: (hashed.append(file), sha256_of(file, cancel))[1]
    for _ in range(2):
        report = shelf.sync()
        assert counts(report) == {"unchanged": 5}
        assert (report.embedded, shelf.reader.read, len(hashed)) == (0, [], 5)


def test_where_files_have_no_numbers_size_and_time_are_enough() -> None:
    entries = [Found(path="a.md", raw="a.md", file="a.md", size=5, mtime_ns=7)]
    stamp = FileStamp(
        id=DocumentId("1"), path="a.md", state=DocumentState.INDEXED, code=None, reason=None, size=5, mtime_ns=7,
        inode=9, chunks=1, media_type="text/plain", extractor="fake@1", raw_path="", sha256="",
        attempted_at="2026-01-01T00:00:00+00:00",
    )  # fmt: skip
    plan = compare(entries, [stamp], retry_failed=False, force=False, version_of=lambda _: "fake@1")
    assert plan.unchanged == 1


def test_logs_that_are_renamed_in_turn_keep_their_identities(shelf: Shelf) -> None:
    for name in ("app.log", "app.1.log", "app.2.log"):
        shelf.write(name, f"lines of {name}")
    shelf.sync()
    ids = [shelf.id_of(name) for name in ("app.log", "app.1.log", "app.2.log")]
    for old, new in (("app.2.log", "app.3.log"), ("app.1.log", "app.2.log"), ("app.log", "app.1.log")):
        (shelf.folder / old).rename(shelf.folder / new)
    shelf.write("app.log", "fresh lines")
    assert counts(shelf.sync()) == {"added": 1, "moved": 3}
    assert [shelf.id_of(f"app.{n}.log") for n in (1, 2, 3)] == ids
    assert shelf.id_of("app.log") not in ids
    assert shelf.store.check() == ()


def test_names_that_differ_in_case_only(shelf: Shelf) -> None:
    shelf.write("Readme.md", "the heron")
    shelf.sync()
    identity = shelf.id_of("Readme.md")
    (shelf.folder / "Readme.md").rename(shelf.folder / "README.md")
    assert counts(shelf.sync()) == {"moved": 1}
    assert shelf.id_of("README.md") == identity


def test_a_copy_is_another_document_with_the_same_vectors(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron stands by the weir")
    shelf.sync()
    shelf.write("b.md", "the heron stands by the weir")
    report = shelf.sync()
    assert counts(report) == {"added": 1, "unchanged": 1}
    assert report.embedded == 0
    assert shelf.id_of("a.md") != shelf.id_of("b.md")
    (shelf.folder / "a.md").unlink()
    assert counts(shelf.sync()) == {"removed": 1, "unchanged": 1}
    assert list(shelf.indexed()) == ["b.md"]


def test_a_copy_that_is_edited_leaves_its_original_alone(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    identity = shelf.id_of("a.md")
    shelf.write("b.md", "the heron")
    shelf.write("a.md", "the heron flies")
    assert counts(shelf.sync()) == {"added": 1, "updated": 1}
    assert shelf.id_of("a.md") == identity


def test_what_comes_back_to_a_place_gets_an_id_of_its_own(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    (shelf.folder / "a.md").rename(shelf.folder / "b.md")
    shelf.sync()
    shelf.write("a.md", "the heron")
    assert counts(shelf.sync()) == {"added": 1, "unchanged": 1}
    assert shelf.id_of("a.md") != shelf.id_of("b.md")
    assert shelf.indexed() == {"a.md": "the heron", "b.md": "the heron"}


def test_another_ending_is_read_anew(shelf: Shelf) -> None:
    shelf.write("a.txt", "the heron")
    shelf.sync()
    (shelf.folder / "a.txt").rename(shelf.folder / "a.md")
    shelf.reader.read.clear()
    assert counts(shelf.sync()) == {"added": 1, "removed": 1}
    assert shelf.reader.read == ["a.md"]


def test_a_folder_becomes_a_file_and_a_file_a_folder(shelf: Shelf) -> None:
    shelf.write("x/a.md", "the heron")
    shelf.write("y.md", "the godwit")
    shelf.sync()
    shutil.rmtree(shelf.folder / "x")
    (shelf.folder / "y.md").unlink()
    shelf.write("x", "the dunlin")
    shelf.write("y.md/z.md", "the knot")
    assert counts(shelf.sync()) == {"added": 2, "removed": 2}
    assert shelf.indexed() == {"x": "the dunlin", "y.md/z.md": "the knot"}


def test_files_move_between_collections(shelf: Shelf, tmp_path: Path) -> None:
    other = Root(collection="more", folder=tmp_path / "more")
    other.folder.mkdir()
    shelf.write("a.md", "the heron")
    shelf.write("stays.md", "the knot")
    (other.folder / "b.md").write_text("the godwit")
    shelf.sync(shelf.root, other)
    identity = shelf.id_of("a.md")
    (shelf.folder / "a.md").rename(other.folder / "a.md")
    assert counts(shelf.sync(shelf.root, other)) == {"moved": 1, "unchanged": 2}
    row = shelf.store.find("more", "a.md")
    assert row is not None
    assert row.id == identity
    assert [chunk.collection for chunk in shelf.store.chunks_of(row.id)] == ["more"]


def test_many_moves_are_written_in_groups(shelf: Shelf) -> None:
    shelf.limits = BatchLimits(part_chunks=3)
    for n in range(8):
        shelf.write(f"old/{n}.md", f"bird number {n}")
    shelf.sync()
    (shelf.folder / "old").rename(shelf.folder / "new")
    assert counts(shelf.sync()) == {"moved": 8}
    assert sorted(shelf.indexed()) == [f"new/{n}.md" for n in range(8)]


# ------------------------------------------------------------------ names


def test_twins_in_two_spellings_stand_for_themselves(shelf: Shelf) -> None:
    shelf.write("caf\u00e9.md", "composed")
    shelf.write("cafe\u0301.md", "in pieces")
    if len(os.listdir(shelf.folder)) < 2:
        pytest.skip("this file system keeps one spelling")
    assert counts(shelf.sync()) == {"added": 2}
    assert counts(shelf.sync()) == {"unchanged": 2}
    texts = shelf.indexed()
    assert sorted(texts.values()) == ["composed", "in pieces"]
    assert "caf\u00e9.md" in texts
    first = next(path for path, text in texts.items() if text == "in pieces")
    identity = shelf.id_of(first)
    (shelf.folder / "caf\u00e9.md").unlink()
    assert shelf.sync().removed == 1
    assert shelf.indexed() == {"caf\u00e9.md": "in pieces"}
    assert shelf.id_of("caf\u00e9.md") == identity
    assert counts(shelf.sync()) == {"unchanged": 1}


def test_names_that_are_not_utf8(shelf: Shelf) -> None:
    raw = os.fsdecode(b"caf\xe9 \xff.md")
    try:
        (shelf.folder / raw).write_text("the heron")
    except OSError:
        pytest.skip("this file system takes UTF-8 names only")
    shelf.write("caf%E9 %FF.md", "a literal name")
    assert counts(shelf.sync()) == {"added": 2}
    assert sorted(shelf.indexed().values()) == ["a literal name", "the heron"]
    for path in shelf.indexed():
        path.encode()
    (shelf.folder / raw).unlink()
    assert shelf.sync().removed == 1
    assert list(shelf.indexed().values()) == ["a literal name"]


@pytest.mark.parametrize("name", ["-rf.md", "two\nlines.md", 'it\'s "x" -- ;.md', " blank .md", "%00.md", "a\\b.md"])
def test_odd_names(shelf: Shelf, name: str) -> None:
    shelf.write(name, "the heron")
    assert counts(shelf.sync()) == {"added": 1}
    assert shelf.indexed() == {name: "the heron"}
    (shelf.folder / name).unlink()
    shelf.write("other.md", "x")
    assert counts(shelf.sync()) == {"added": 1, "removed": 1}


# ------------------------------------------------------------------ failures


def test_a_bad_file_costs_only_itself(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.reader.trouble["b.md"] = ExtractError("torn", hint="Mend it.", code="extract.damaged")
    report = shelf.sync()
    assert counts(report) == {"added": 1, "failed": 1}
    assert (report.failed[0].path, report.failed[0].code, report.failed[0].reason) == (
        "b.md",
        "extract.damaged",
        "torn",
    )
    assert shelf.states() == {"a.md": "indexed", "b.md": "failed"}
    shelf.reader.read.clear()
    again = shelf.sync()
    assert counts(again) == {"unchanged": 1}
    assert "1 file(s) failed before" in again.warnings[0]
    assert shelf.reader.read == []


@pytest.mark.parametrize("how", ["touched", "retried", "new version"])
def test_a_failed_file_is_tried_again(shelf: Shelf, how: str) -> None:
    shelf.write("b.md", "the godwit")
    shelf.reader.trouble["b.md"] = ExtractError("torn", hint="Mend it.")
    shelf.sync()
    del shelf.reader.trouble["b.md"]
    if how == "touched":
        shelf.touch("b.md")
    if how == "new version":
        shelf.reader.revision += 1
    assert counts(shelf.sync(retry_failed=how == "retried")) == {"added": 1}
    assert shelf.states() == {"b.md": "indexed"}
    assert len(list(shelf.store.rows())) == 1


def test_a_file_that_fails_later_leaves_the_index(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("keeps.md", "x")
    shelf.sync()
    shelf.write("a.md", "the egret")
    shelf.reader.trouble["a.md"] = ExtractError("torn", hint="Mend it.")
    assert counts(shelf.sync()) == {"removed": 1, "failed": 1, "unchanged": 1}
    assert shelf.states() == {"a.md": "failed", "keeps.md": "indexed"}
    del shelf.reader.trouble["a.md"]
    assert counts(shelf.sync(retry_failed=True)) == {"added": 1, "unchanged": 1}
    assert shelf.states() == {"a.md": "indexed", "keeps.md": "indexed"}


def test_empty_and_foreign_files_are_skipped(shelf: Shelf) -> None:
    shelf.write("a.md", " \n\t")
    shelf.write("b.bin", b"\x00\x01")
    report = shelf.sync()
    assert {one.path: one.code for one in report.skipped} == {"a.md": "empty", "b.bin": "extract.unsupported"}
    assert counts(shelf.sync()) == {"skipped": 2}
    shelf.write("a.md", "the heron")
    assert counts(shelf.sync()) == {"added": 1, "skipped": 1}
    shelf.write("a.md", "")
    assert counts(shelf.sync()) == {"removed": 1, "skipped": 2}


@pytest.mark.parametrize("where", ["", "media type of ", "version of "])
def test_a_bug_in_a_reader_costs_one_file(shelf: Shelf, where: str) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    if not where:
        shelf.chunker = BrokenFor("b.md", shelf.chunker)
    else:
        shelf.reader.trouble[where + "b.md"] = ZeroDivisionError("oops")
    report = shelf.sync()
    assert counts(report) == {"added": 1, "failed": 1}
    assert "ZeroDivisionError" in report.failed[0].reason
    assert shelf.states() == {"a.md": "indexed", "b.md": "failed"}


class BrokenFor:
    """A chunker with a bug that one document finds, on its way through the chunks."""

    fingerprint = "broken"

    def __init__(self, path: str, inner: object, *, after: int = 0) -> None:
        self.path, self.inner, self.after = path, inner, after

    def split(self, document, document_id):  # type: ignore[no-untyped-def]
        return tuple(self.stream(document, document_id))

    def stream(self, document, document_id):  # type: ignore[no-untyped-def]
        for n, chunk in enumerate(self.inner.stream(document, document_id)):  # type: ignore[attr-defined]
            if document.path == self.path and n >= self.after:
                raise ZeroDivisionError("oops")
            yield chunk


def test_a_document_that_the_store_refuses_costs_only_itself(shelf: Shelf) -> None:
    from lilbee_core.errors import InvalidArgument

    put = shelf.store.put

    def refuse(documents):  # type: ignore[no-untyped-def]
        if any(one.row.path == "b.md" for one in documents):
            raise InvalidArgument("half a surrogate", hint="Mend it.")
        put(documents)

    shelf.store.put = refuse  # type: ignore[method-assign]
    for name in "abc":
        shelf.write(f"{name}.md", f"bird {name}")
    report = shelf.sync()
    assert counts(report) == {"added": 2, "failed": 1}
    assert report.failed[0].path == "b.md"


def test_an_unreadable_file_keeps_what_is_indexed(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    shelf.touch("a.md")
    shelf.write("b.md", "the godwit")

    def forbid(file: str, cancel: object) -> str:
        raise PermissionError(13, "Permission denied")

    shelf.digest = forbid
    report = shelf.sync()
    shelf.digest = sha256_of
    assert {one.path: one.code for one in report.failed} == dict.fromkeys(["a.md", "b.md"], "extract.not_readable")
    assert shelf.indexed() == {"a.md": "the heron"}
    assert shelf.states() == {"a.md": "indexed", "b.md": "failed"}
    assert counts(shelf.sync()) == {"added": 1, "unchanged": 1}


def test_a_file_that_vanishes_during_the_sync(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    shelf.touch("a.md")

    def gone(file: str, cancel: object) -> str:
        raise FileNotFoundError(2, "No such file")

    shelf.digest = gone
    assert counts(shelf.sync()) == {"unchanged": 1}
    shelf.digest = sha256_of
    (shelf.folder / "a.md").unlink()
    shelf.write("b.md", "x")
    assert counts(shelf.sync()) == {"added": 1, "removed": 1}


# ------------------------------------------------------------------ roots


def test_a_missing_root_keeps_everything_and_says_so(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    shelf.folder.rename(tmp_path / "away")
    with pytest.raises(SourceUnavailable) as failure:
        shelf.sync()
    assert "cannot be read" in failure.value.message
    assert "Bring" in failure.value.hint
    assert shelf.states() == {"a.md": "missing"}
    row = shelf.store.find("notes", "a.md")
    assert row is not None
    assert (row.code, bool(row.reason)) == ("source.unavailable", True)
    assert len(shelf.store.chunks_of(row.id)) == 1
    (tmp_path / "away").rename(shelf.folder)
    shelf.reader.read.clear()
    assert counts(shelf.sync()) == {"unchanged": 1}
    assert (shelf.states(), shelf.reader.read) == ({"a.md": "indexed"}, [])
    row = shelf.store.find("notes", "a.md")
    assert row is not None
    assert (row.code, row.reason) == (None, None)


def test_an_empty_root_is_pruned_on_request_only(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    (shelf.folder / "a.md").unlink()
    (shelf.folder / ".DS_Store").write_bytes(b"\x00")
    with pytest.raises(SourceUnavailable, match="suddenly empty"):
        shelf.sync()
    with pytest.raises(SourceUnavailable):
        shelf.sync(dry_run=True)
    assert shelf.states()["a.md"] == "missing"
    assert counts(shelf.sync(prune=True))["removed"] == 1
    assert "a.md" not in shelf.states()


def test_one_missing_root_does_not_stop_the_others(shelf: Shelf, tmp_path: Path) -> None:
    other = Root(collection="more", folder=tmp_path / "nowhere")
    shelf.write("a.md", "the heron")
    report = shelf.sync(shelf.root, other)
    assert counts(report) == {"added": 1}
    assert report.unavailable == ("more",)
    assert "--prune" in report.warnings[0]


def test_an_empty_folder_that_was_always_empty_is_fine(shelf: Shelf) -> None:
    assert counts(shelf.sync()) == {}


def test_a_file_returns_changed_from_a_missing_root(shelf: Shelf, tmp_path: Path) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    shelf.folder.rename(tmp_path / "away")
    with pytest.raises(SourceUnavailable):
        shelf.sync()
    (tmp_path / "away").rename(shelf.folder)
    shelf.write("a.md", "the egret")
    assert counts(shelf.sync()) == {"updated": 1}
    assert shelf.states() == {"a.md": "indexed"}


# ------------------------------------------------------------------ excluded


def test_what_was_removed_on_request_stays_out(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.sync()
    shelf.ingestor.exclude([row for row in shelf.store.rows() if row.path == "a.md"])
    assert shelf.states() == {"a.md": "excluded", "b.md": "indexed"}
    assert [event.path for event in shelf.sink.of(DocumentRemoved)] == ["a.md"]
    for _ in range(2):
        shelf.write("a.md", f"the heron flies {shelf.ticks}")
        assert counts(shelf.sync(force=True)) == {"updated": 1}
        assert shelf.states() == {"a.md": "excluded", "b.md": "indexed"}
    (shelf.folder / "a.md").rename(shelf.folder / "elsewhere")
    shelf.write(".gitignore", "a.md\nelsewhere\n")
    shelf.sync()
    shelf.write("a.md", "again")
    shelf.sync()
    assert shelf.states()["a.md"] == "excluded"
    (shelf.folder / ".gitignore").unlink()
    shelf.ingestor.readmit([row for row in shelf.store.rows() if row.path == "a.md"])
    shelf.sync()
    assert shelf.states()["a.md"] == "indexed"


def test_an_ignored_file_leaves_and_comes_back(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("sub/b.md", "the godwit")
    shelf.sync()
    shelf.write(".lilbeeignore", "a.md\nsub/\n")
    report = shelf.sync()
    assert (report.removed, sorted(one.path for one in report.skipped)) == (2, [".lilbeeignore", "a.md", "sub/"])
    assert shelf.states() == {".lilbeeignore": "skipped", "a.md": "skipped", "sub/": "skipped"}
    assert counts(shelf.sync()) == {"skipped": 3}
    (shelf.folder / ".lilbeeignore").unlink()
    assert counts(shelf.sync()) == {"added": 2}
    assert shelf.states() == {"a.md": "indexed", "sub/b.md": "indexed"}


# ------------------------------------------------------------------ dry runs, cancelling, collections


def test_a_dry_run_only_says_what_would_be_done(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the godwit")
    shelf.write("c.md", "the dunlin")
    shelf.sync()
    before = {row.id: row for row in shelf.store.rows()}
    shelf.write("a.md", "changed")
    (shelf.folder / "b.md").rename(shelf.folder / "d.md")
    (shelf.folder / "c.md").unlink()
    shelf.write("e.md", "new")
    report = shelf.sync(dry_run=True)
    assert counts(report) == {"added": 1, "updated": 1, "removed": 1, "moved": 1}
    assert report.dry_run
    assert {row.id: row for row in shelf.store.rows()} == before
    assert counts(shelf.sync()) == {"added": 1, "updated": 1, "removed": 1, "moved": 1}


@pytest.mark.parametrize("after", [0, 1, 3, 8, 12, 20])
def test_a_cancelled_sync_is_consistent_and_can_go_on(shelf: Shelf, after: int) -> None:
    for n in range(6):
        shelf.write(f"{n}.md", f"bird number {n}")
    report = shelf.sync(cancel=Switch(after=after))
    assert report.cancelled or after > 12
    assert shelf.store.check() == ()
    resumed = shelf.sync()
    assert report.added + resumed.added == 6
    assert sorted(shelf.indexed()) == [f"{n}.md" for n in range(6)]


def test_a_sync_reports_as_it_goes(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.sync()
    assert shelf.sink.names[0] == "SyncStarted"
    assert shelf.sink.names[-1] == "SyncFinished"
    (planned,) = shelf.sink.of(SyncPlanned)
    assert (planned.to_read, planned.bytes) == (1, 9)
    assert shelf.sink.of(SyncFinished)[0].added == 1


def test_events_can_go_elsewhere_too(shelf: Shelf) -> None:
    from lilbee_core.testing import RecordingSink

    other = RecordingSink()
    shelf.write("a.md", "the heron")
    shelf.ingestor.reporting_to(shelf.sink, other).sync([shelf.root], Switch())
    assert other.names == shelf.sink.names


def test_a_renamed_collection_keeps_ids(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.bin", b"\x00")
    shelf.sync()
    identity = shelf.id_of("a.md")
    shelf.ingestor.rename_collection(list(shelf.store.rows()), "birds")
    shelf.collection = "birds"
    assert shelf.id_of("a.md") == identity
    assert {row.collection for row in shelf.store.rows()} == {"birds"}
    assert counts(shelf.sync()) == {"unchanged": 1, "skipped": 1}


def test_words_can_be_written_anew(shelf: Shelf) -> None:
    shelf.write("a.md", "the heron")
    shelf.write("b.bin", b"\x00")
    shelf.sync()
    assert shelf.ingestor.reanalyze() == 1
    assert shelf.store.check() == ()


def test_upkeep_that_fails_is_no_failure_of_the_sync(shelf: Shelf) -> None:
    from lilbee_core.errors import StoreError

    def fail(*, force: bool = False) -> tuple[str, ...]:
        raise StoreError("the disk is full", hint="Free some.", code="store.full")

    shelf.store.maintain = fail  # type: ignore[method-assign]
    shelf.write("a.md", "the heron")
    assert counts(shelf.sync()) == {"added": 1}


def test_a_file_over_the_limit_is_named(shelf: Shelf) -> None:
    shelf.walk = WalkOptions(max_bytes=10)
    shelf.write("a.md", "the heron")
    shelf.write("b.md", "the heron and the godwit")
    report = shelf.sync()
    assert counts(report) == {"added": 1, "failed": 1}
    assert (report.failed[0].path, report.failed[0].code) == ("b.md", "extract.limit")


def test_survey_stops_when_cancelled_while_hashing(tmp_path: Path) -> None:
    file = tmp_path / "big"
    file.write_bytes(b"x" * 10)
    with pytest.raises(Cancelled):
        sha256_of(str(file), Switch(after=0))


def test_without_an_embedder_words_are_enough(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "root", embedder=None)
    shelf.write("a.md", "the heron")
    report = shelf.sync()
    assert (report.added, report.embedded, report.owed) == (1, 0, 0)
    shelf.embedder = HashEmbedder()
    report = shelf.sync()
    assert (counts(report), report.embedded, report.owed) == ({"unchanged": 1}, 1, 0)
