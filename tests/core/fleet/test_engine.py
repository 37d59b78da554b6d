"""Which program runs the models, and what it can do (R142)."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from lilbee_core.errors import FleetError
from lilbee_core.fleet._engine import Candidate, Said, ask_program, find_engine, flags_in, mark_unfit, version_in
from tests.support.llama_server import HELP, VERSION, write_engine

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="programs are shell scripts here")


class Programs:
    """Answers as programs would, and counts how often it is asked."""

    def __init__(self, **broken: Said | OSError) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._broken = broken

    def __call__(self, command: Sequence[str]) -> Said:
        self.asked.append(tuple(command))
        answer = self._broken.get(Path(command[0]).parent.name)
        if isinstance(answer, OSError):
            raise answer
        if answer is not None:
            return answer
        return Said(0, VERSION if command[-1] == "--version" else HELP)


def program(folder: Path, name: str = "llama-server") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text("#!/bin/sh\n", "utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def wheels(*candidates: Candidate) -> Iterator[Candidate]:
    yield from candidates


def in_wheel(path: Path) -> Candidate:
    return Candidate(origin="a wheel", command=(str(path),), file=path)


MISSING = Candidate(origin="another wheel", missing="not installed")


class TestWhere:
    def test_the_setting_wins(self, tmp_path: Path) -> None:
        named, other = program(tmp_path / "named"), program(tmp_path / "path")
        found = find_engine(str(named), search_path=str(other.parent), ask=Programs())
        assert (found.file, found.origin, found.command) == (named, "setting", (str(named),))

    def test_the_setting_may_name_a_folder_or_a_program_on_the_path(self, tmp_path: Path) -> None:
        own = program(tmp_path / "own", "llama-server-cuda")
        inside = program(tmp_path / "inside")
        assert find_engine(str(inside.parent), ask=Programs()).file == inside
        assert find_engine("llama-server-cuda", search_path=str(own.parent), ask=Programs()).file == own

    def test_a_setting_that_names_nothing_is_an_error_and_nothing_else_is_tried(self, tmp_path: Path) -> None:
        other = program(tmp_path / "path")
        with pytest.raises(FleetError, match="nowhere/llama-server") as caught:
            find_engine("nowhere/llama-server", search_path=str(other.parent), ask=Programs())
        assert "LILBEE_LLAMA_SERVER_PATH" in caught.value.hint
        assert caught.value.code == "fleet.no_engine"

    def test_the_path_comes_before_wheels(self, tmp_path: Path) -> None:
        on_path, wheel = program(tmp_path / "path"), program(tmp_path / "wheel")
        offers = lambda: wheels(in_wheel(wheel))  # noqa: E731
        assert find_engine(search_path=str(on_path.parent), ask=Programs(), wheels=offers).file == on_path
        assert find_engine(search_path=str(tmp_path), ask=Programs(), wheels=offers).file == wheel

    def test_one_that_does_not_run_is_passed_over(self, tmp_path: Path) -> None:
        bad, good = program(tmp_path / "bad"), program(tmp_path / "good")
        ask = Programs(bad=Said(127, "error while loading shared libraries: libgomp.so.1"))
        found = find_engine(search_path=str(bad.parent), ask=ask, wheels=lambda: wheels(MISSING, in_wheel(good)))
        assert found.file == good

    def test_no_engine_at_all_names_every_place(self, tmp_path: Path) -> None:
        bad = program(tmp_path / "bad")
        ask = Programs(bad=OSError(8, "Exec format error"))
        with pytest.raises(FleetError) as caught:
            find_engine(search_path=str(bad.parent), ask=ask, wheels=lambda: wheels(MISSING))
        message = caught.value.message
        assert "llama_server_path (LILBEE_LLAMA_SERVER_PATH): not set" in message
        assert "PATH:" in message
        assert "Exec format error" in message
        assert "another wheel: not installed" in message
        assert "lilbee-core[engine]" in caught.value.hint

    def test_another_program_of_that_name_is_none(self, tmp_path: Path) -> None:
        bad = program(tmp_path / "bad")
        with pytest.raises(FleetError, match="no llama-server: its --help lists no --model"):
            find_engine(str(bad), ask=Programs(bad=Said(0, "usage: something else")))


class TestWhat:
    def test_version_and_flags(self) -> None:
        assert version_in(VERSION + "\nbuilt with GNU 11.4.0 for Linux x86_64\n") == (
            "9.9.9-fake (build 1, commit 0000000)"
        )
        flags = flags_in(HELP)
        assert {"--model", "-m", "--no-ui", "-ngl", "--n-gpu-layers", "--reranking", "--offline"} <= flags
        assert "--draft" not in flags  # it only says that it was removed

    def test_a_program_that_names_no_version_gets_its_first_words(self) -> None:
        assert version_in("llama.cpp server\n") == "llama.cpp server"
        assert version_in("") == "unknown"

    @needs_posix
    def test_a_real_program_is_asked(self, tmp_path: Path) -> None:
        found = find_engine(str(write_engine(tmp_path)))
        assert found.version.startswith("9.9.9-fake")
        assert found.has("--api-key-file")
        assert not found.has("--list")
        assert found.to_dict()["origin"] == "setting"

    @needs_posix
    def test_a_program_that_hangs_is_given_up(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("lilbee_core.fleet._engine._PROBE_LIMIT_S", 0.2)
        path = program(tmp_path / "slow")
        path.write_text("#!/bin/sh\nexec sleep 60\n", "utf-8")
        with pytest.raises(TimeoutError):
            ask_program([str(path), "--version"])


class TestCache:
    def test_a_program_is_asked_once(self, tmp_path: Path) -> None:
        path, ask, cache = program(tmp_path / "bin"), Programs(), tmp_path / "cache" / "engines.json"
        first = find_engine(str(path), cache_file=cache, ask=ask)
        again = find_engine(str(path), cache_file=cache, ask=ask)
        assert first == again
        assert len(ask.asked) == 2  # version and help

    def test_a_program_that_changed_is_asked_again_and_the_old_entry_goes(self, tmp_path: Path) -> None:
        path, ask, cache = program(tmp_path / "bin"), Programs(), tmp_path / "engines.json"
        find_engine(str(path), cache_file=cache, ask=ask)
        os.utime(path, (1, 1))
        find_engine(str(path), cache_file=cache, ask=ask)
        assert len(ask.asked) == 4
        assert cache.read_text("utf-8").count('"version"') == 1

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"format": 2, "engines": {"x": 1}}', "no json"])
    def test_a_damaged_cache_is_no_cache(self, tmp_path: Path, content: str) -> None:
        path, cache = program(tmp_path / "bin"), tmp_path / "engines.json"
        cache.write_text(content, "utf-8")
        assert find_engine(str(path), cache_file=cache, ask=Programs()).file == path

    @pytest.mark.skipif(os.name == "nt" or not os.geteuid(), reason="everything can be written here")
    def test_a_cache_that_cannot_be_written_costs_nothing(self, tmp_path: Path) -> None:
        path = program(tmp_path / "bin")
        (tmp_path / "cache").mkdir(mode=0o500)
        assert find_engine(str(path), cache_file=tmp_path / "cache" / "e.json", ask=Programs()).file == path

    def test_one_for_another_processor_is_passed_over_until_it_changes(self, tmp_path: Path) -> None:
        bad, good, cache = program(tmp_path / "bad"), program(tmp_path / "good"), tmp_path / "engines.json"

        def find() -> Path:
            offers = lambda: wheels(in_wheel(bad), in_wheel(good))  # noqa: E731
            return find_engine(search_path=str(tmp_path), cache_file=cache, ask=Programs(), wheels=offers).file

        engine = find_engine(str(bad), cache_file=cache, ask=Programs())
        assert find() == bad
        mark_unfit(engine, cache)
        assert find() == good
        assert find_engine(str(good), cache_file=cache, ask=Programs()).notes == ()
        with pytest.raises(FleetError, match="another processor") as caught:
            find_engine(str(bad), cache_file=cache, ask=Programs())
        assert caught.value.code == "fleet.wrong_processor"
        os.utime(bad, (1, 1))
        assert find() == bad
