"""Documents, tasks, collections, models, settings, the wizard, and the window itself (R245-R247)."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from lilbee_cli import slashes
from lilbee_cli.tui.app import LilbeeApp
from lilbee_cli.tui.plain import ascii_of
from lilbee_cli.tui.work import Tasks
from lilbee_core import Lilbee
from lilbee_core.settings import Settings
from lilbee_core.types import WikiDiff
from tests.cli.tui.conftest import Drive, Screens

PANES = {"search": 2, "chat": 3, "documents": 4, "tasks": 5, "collections": 6, "wiki": 7, "models": 8, "settings": 9}


def test_every_command_has_its_method_and_every_key_one_meaning(drive: Drive) -> None:
    """R246: what the registry lists can be done, on the line and on the screens."""
    from lilbee_cli.session import Session

    assert [name for name in slashes.at(slashes.LINE) if not hasattr(Session, name)] == []

    async def script(screens: Screens) -> None:
        for place, key in PANES.items():
            await screens.press(f"f{key}")
            await screens.until(lambda place=place: screens.app.place == place)
            missing = [one for one in slashes.at(place) if not hasattr(screens.pane, f"slash_{one}")]
            assert missing == [], place
            keys = [one.key for where in (place, "app") for one in slashes.at(where).values() if one.key]
            assert len(keys) == len(set(keys)), place
            methods = {name.removeprefix("slash_") for name in dir(screens.pane) if name.startswith("slash_")}
            assert methods == set(slashes.at(place)), place
        assert {name.removeprefix("slash_") for name in dir(LilbeeApp) if name.startswith("slash_")} == set(
            slashes.at("app")
        )
        await screens.press("f1")
        await screens.shows("Keys and commands", "/unset [NAME]")

    drive(script)


def test_documents_say_their_state_and_why_and_can_be_taken_out(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f4")
        await screens.shows("5 documents", "failed", "broken.pdf")
        screens.pane.narrow("broken")
        await screens.shows("1 document of 5", "[extract.")
        await screens.press("w")
        await screens.shows("Why", "broken.pdf", "failed:")
        await screens.press("escape")
        screens.pane.narrow("pears")
        await screens.shows("notes/garden/pears.txt  indexed")
        await screens.press("enter")
        await screens.shows("Pears ripen in September.")
        await screens.press("escape")
        await screens.press("x")
        await screens.shows("Take notes/garden/pears.txt out")
        await screens.press("y")
        await screens.shows("1 document taken out", "excluded")
        await screens.press("i")
        await screens.shows("add done", "notes/garden/pears.txt  indexed")
        screens.pane.narrow("")
        await screens.press("s", "s")
        await screens.shows("1 document, failed")
        screens.app.typed("/why /nowhere/at/all.md")
        await screens.shows("Why", "/nowhere/at/all.md")

    drive(script)


def test_a_folder_is_added_and_the_task_is_shown(drive: Drive, tmp_path: Path) -> None:
    more = tmp_path / "more"
    more.mkdir()
    (more / "hens.md").write_text("Hens lay brown eggs.\n", "utf-8")

    async def script(screens: Screens) -> None:
        await screens.press("f10")
        await screens.shows("Add a file")
        screens.app.screen.query_one("Line").value = str(more)
        await screens.press("enter")
        await screens.shows("add done: 1 added")
        await screens.press("f5")
        await screens.shows("add", "done", "1 added")
        await screens.press("f6")
        await screens.shows("more", "yes")
        await screens.press("down", "r")
        await screens.shows("What to call more?")
        screens.app.screen.query_one("Line").value = "birds"
        await screens.press("enter")
        await screens.shows("more is called birds now.")
        await screens.press("delete")
        await screens.shows("Forget the collection birds")
        await screens.press("enter")
        await screens.shows("1 document left the index.")
        screens.app.typed("/collect /nowhere/at/all")
        await screens.shows("there is no folder /nowhere/at/all")
        screens.app.typed("/cancel")
        await screens.shows("Nothing is being done.")
        screens.app.typed("/watch")
        await screens.until(lambda: [one.kind for one in screens.app.tasks.running()] == ["watch"])
        screens.app.typed("/cancel")
        await screens.until(lambda: not screens.app.tasks.running())

    drive(script)


def test_tasks_that_are_no_jobs_tell_how_they_ended_and_can_be_ended(folder: Path) -> None:
    """R247: one controller for all that is done in the background."""
    over: list[str] = []
    with Lilbee(folder, Settings()) as bee:
        tasks = Tasks(bee, lambda task: over.append(f"{task.kind} {task.state} {task.said}"))

        def endless(cancel) -> str:
            while True:
                cancel.check()
                time.sleep(0.005)

        def failing(_: object) -> str:
            raise ValueError("no")

        tasks.start("fine", "", lambda _: "all good")
        tasks.start("bad", "", failing)
        running = tasks.start("endless", "", endless)
        assert tasks.cancel("nosuch") is None
        assert running.id in {one.id for one in tasks.running()}
        assert tasks.cancel(running.id[:4]) is not None
        end = time.monotonic() + 10
        while len(over) < 3 and time.monotonic() < end:
            time.sleep(0.01)
        assert sorted(over) == ["bad failed ValueError: no", "endless cancelled ", "fine done all good"]
        assert tasks.running() == ()


def test_settings_are_changed_checked_and_taken_back(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f9")
        await screens.type("top_k")
        await screens.shows("top_k", "10", "default")
        screens.pane.narrow("top_k")
        await screens.until(lambda: any(row[0] == "top_k" for row in screens.pane.rows))
        screens.app.typed("/set top_k 3")
        await screens.shows("top_k = 3")
        await screens.until(lambda: ("top_k", 3, "library") in screens.pane.rows)
        screens.app.typed("/set top_k many")
        await screens.shows("top_k 'many' is not allowed")
        screens.app.typed("/unset top_k")
        await screens.until(lambda: ("top_k", 10, "library") in screens.pane.rows or "default" in screens.text())
        screens.app.typed("/set openai_api_key sk-very-secret")
        await screens.shows("openai_api_key = ********")

    drive(script)


def test_a_model_is_chosen_for_a_role(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f8")
        await screens.shows("builtin/all-MiniLM-L6-v2", "chat: auto", "to fetch")
        await screens.press("u")
        await screens.shows("1 use it for embed", "use no model for chat")
        await screens.press("2")
        await screens.shows("chat: none")
        screens.app.typed("/use nosuch x/y")
        await screens.shows("there is no role 'nosuch'")
        screens.app.typed("/pull nosuch")
        await screens.shows("pull failed:", "nosuch")
        screens.app.typed("/placement")
        await screens.until(lambda: "Where models run" in screens.text() or screens.app.said.startswith("there is no"))

    drive(script)


def test_a_first_library_is_set_up(drive: Drive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    monkeypatch.setenv("LILBEE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    new = tmp_path / "papers"
    (new / "deep").mkdir(parents=True)
    (new / "hens.md").write_text("Hens lay brown eggs.\n", "utf-8")
    monkeypatch.chdir(new)

    async def script(screens: Screens) -> None:
        await screens.shows("Which folder holds your documents?", "It holds 1 file and 1 folder.")
        field = screens.app.screen.query_one("Line")
        field.value = str(new / "nosuch")
        await screens.press("enter")
        await screens.shows("There is no such folder: choose another.")
        field.value = str(new)
        await screens.press("enter")
        await screens.shows("Which model answers questions?", "Look for one to fetch")
        await screens.press("escape")
        await screens.shows("sync done: 1 added")
        await screens.type("hens")
        await screens.shows("hens.md:1")

    drive(script, open_library=lambda path, events: Lilbee(path, events=events))
    assert (new / ".lilbee").is_dir()


@pytest.mark.parametrize("size", [(80, 24), (60, 20), (200, 60)])
def test_windows_of_every_size(drive: Drive, size: tuple[int, int]) -> None:
    async def script(screens: Screens) -> None:
        for place, key in PANES.items():
            await screens.press(f"f{key}")
            if size[0] < 80:
                await screens.until(lambda place=place: screens.app.place == place)
                shown = screens.text()
                assert "This window has 60x20 characters; lilbee needs 80x24." in " ".join(shown.split())
            else:
                await screens.shows(f"[{'F' if size[0] >= 100 else ''}{key} {place.capitalize()}]", "Settings")
        await screens.pilot.resize_terminal(100, 30)
        await screens.shows("[F9 Settings]")

    drive(script, size=size)


def test_terminals_without_color_or_utf8(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def script(screens: Screens) -> None:
        assert screens.app.no_color
        await screens.type("queen")
        await screens.shows("1 hit")
        for filter_ in screens.app.get_line_filters():
            for strip in screens.app.screen._compositor.render_strips(screens.app.size):
                applied = filter_.apply(list(strip), screens.app.screen.styles.background)
                if type(filter_).__name__ == "AsciiFilter":
                    assert "".join(one.text for one in applied).isascii()
        assert "AsciiFilter" in {type(one).__name__ for one in screens.app.get_line_filters()}

    drive(script, ascii_only=True)
    os.environ.pop("NO_COLOR", None)
    assert ascii_of("“é─│漢”") == '"?-|??"'


def test_drafts_are_shown_as_what_they_would_change() -> None:
    from lilbee_cli.tui.shown import draft, page

    value = WikiDiff(
        slug="bee", title="Bee\x1b[1m", reason="edited", diff="@@ -1 +1 @@\n-old\x07\n+new", dropped=("x",)
    )
    text = draft(value)
    assert "y publishes it" in text.plain
    assert "-old\\x07\n+new" in text.plain
    assert "\\x1b[1m" in text.plain
    assert {str(span.style) for span in text.spans} >= {"green", "red"}
    assert page("Bee", "no heading\x1b").plain == "Bee\n\nno heading\\x1b\n"


def test_of_several_keys_at_once_only_the_last_makes_the_table_anew(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.press("f4")
        await screens.shows("5 documents")
        filled: list[int] = []
        pane, fill = screens.pane, screens.pane.fill

        def counting(rows: Sequence[object]) -> None:
            filled.append(len(rows))
            fill(rows)

        pane.fill = counting
        for words in ("p", "pl", "plums"):
            pane.narrow(words)
        await screens.shows("1 document of 5")
        assert filled == [1]

    drive(script)
