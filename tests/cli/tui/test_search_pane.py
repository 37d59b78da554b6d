"""Live search, the passage in its place, and the trace (R245, R249)."""

from __future__ import annotations

import threading

from textual import events

from lilbee_core import Lilbee
from lilbee_core.settings import Settings
from tests.cli.tui.conftest import HOSTILE, Drive, Screens


def test_hits_come_as_one_types_and_enter_opens_the_document(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.type("damsons")
        shown = await screens.shows("garden/plums.txt:", "1 hit")
        assert "40 The plum tree bears damsons." in shown  # the line that it has in the file
        await screens.press("enter")
        shown = await screens.shows("Escape: back")
        assert "  40  The plum tree bears damsons." in shown
        await screens.press("escape")
        await screens.shows("[F2 Search]")
        # A field that is emptied shows what can be done.
        await screens.press(*["backspace"] * 7)
        await screens.shows("Type to search.")

    drive(script)


def test_the_arrows_choose_a_hit_while_the_field_keeps_the_keys(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.type("the")
        await screens.until(lambda: len(screens.pane.result.hits) >= 2)
        first = screens.pane.chosen.path
        await screens.press("down")
        await screens.until(lambda: screens.pane.chosen.path != first)
        await screens.press("up")
        await screens.until(lambda: screens.pane.chosen.path == first)
        await screens.type(" queen")
        await screens.shows("the queen")

    drive(script)


def test_what_hostile_documents_hold_is_shown_and_steers_nothing(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.type("hostile wasp")
        shown = await screens.shows("hostile.md", "\\x1b")
        for key in ("f4", "f2", "enter"):
            await screens.press(key)
            await screens.pilot.pause()
            shown += screens.text()
        assert not set(HOSTILE) & {"\x1b", "\x07", "\x9b", "\u202e"} & set(shown)

    drive(script)


def test_the_trace_and_the_scope(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        await screens.type("queen")
        await screens.shows("1 hit")
        await screens.press("ctrl+y")
        await screens.shows("profile default", "->")
        await screens.press("ctrl+t")
        await screens.until(lambda: screens.pane.scope == "wiki" and not screens.pane.result.hits)
        await screens.shows("Nothing found", "in wiki")
        await screens.press("ctrl+t")
        await screens.until(lambda: screens.pane.scope == "both" and screens.pane.result.hits)

    drive(script)


def test_only_the_newest_words_are_searched_and_keys_never_wait(drive: Drive) -> None:
    """The first search takes until all keys were pressed; of the others only the last is made."""
    gate = threading.Event()

    async def script(screens: Screens) -> None:
        asked: list[str] = []
        await screens.until(lambda: screens.app._opening.is_idle, "models that are loaded")
        bee, search = screens.app.library, screens.app.library.search

        def slow(query: str, **options: object) -> object:
            asked.append(query)
            gate.wait(60)
            return search(query, **options)  # type: ignore[arg-type]

        bee.search = slow  # type: ignore[method-assign, assignment]
        await screens.type("queen eggs")
        assert screens.pane.words == "queen eggs"
        gate.set()
        await screens.shows("1 hit")
        assert asked == ["q", "queen eggs"]

    drive(script)


def test_a_pasted_megabyte_and_what_cannot_be_searched(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        screens.pane.first.post_message(events.Paste("queen " * 400_000))
        await screens.shows("2,400,000 characters")
        assert len(screens.pane.words) <= 2_000
        screens.pane.search_for("/nosuch")
        await screens.press("enter")
        await screens.shows("there is no command /nosuch")
        screens.pane.search_for("lang:xx-invalid-lang queen")
        await screens.until(lambda: screens.pane.result is not None)
        screens.pane.search_for("/scope fish")
        await screens.press("enter")
        await screens.shows("there is no scope 'fish'")

    drive(script)


def test_a_library_that_is_removed_and_comes_back(drive: Drive, folder) -> None:
    async def script(screens: Screens) -> None:
        data, away = folder / ".lilbee", folder.parent / "away"
        data.rename(away)
        await screens.shows("The library is gone", "GONE")
        away.rename(data)
        await screens.shows("The library is back.")
        await screens.type("queen")
        await screens.shows("1 hit")

    drive(script)


def test_an_index_of_another_model_can_be_adopted(drive: Drive, folder) -> None:
    from lilbee_core.errors import EmbedderMismatch

    class Refusing(Lilbee):
        def search(self, *_: object, **__: object) -> object:  # type: ignore[override]
            raise EmbedderMismatch("this index was made with x/old, and the settings say x/new", hint="Adopt it.")

    async def script(screens: Screens) -> None:
        await screens.shows("made with x/old", "1 Use the model that made the index", "3 Leave it as it is")
        await screens.press("3")
        await screens.shows("[F2 Search]")
        await screens.type("queen")  # asked once, not with every key
        await screens.until(lambda: screens.pane.words == "queen")
        assert "Leave it" not in screens.text()

    drive(script, open_library=lambda *_: Refusing(folder, Settings()))
