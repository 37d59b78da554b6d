"""Texts drawn line by line: what stands in the rows, where one is, the bar, the mouse, and that nothing is arranged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from lilbee_cli.tui import shown
from lilbee_cli.tui.lines import THUMB, Entries, Lines
from lilbee_cli.tui.rows import lay_out
from lilbee_core.testing.builders import a_hit
from tests.cli.tui.conftest import Drive, Screens
from tests.support.hostile import PAYLOADS, STEERS

SIGNS = st.text(st.sampled_from("ab c\n\té界🐝e\u0301-"), max_size=60)


@given(st.lists(st.tuples(SIGNS, st.sampled_from(["", "bold", "dim", "red"])), max_size=6), st.integers(2, 20))
def test_rows_hold_the_whole_text_with_its_styles_and_no_row_is_too_wide(pieces, width) -> None:
    text = Text.assemble(*pieces)
    laid = lay_out(text, width)
    flat = text.copy()
    flat.expand_tabs(8)
    lines = flat.plain.split("\n")
    assert len(laid.begins) == len(lines)
    for at, line in enumerate(lines):
        rows = [laid.plain(row) for row in range(laid.begins[at], (*laid.begins, len(laid.rows))[at + 1])]
        assert "".join("".join(rows).split()) == "".join(line.split())
        assert all(cell_len(row) <= width for row in rows)
    styled = [(sign, str(part.style)) for row in laid.rows for part in row for sign in part.text if not sign.isspace()]
    wanted = [(sign, style or "none") for piece, style in pieces for sign in piece if not sign.isspace()]
    assert styled == wanted


def test_rows_break_between_words() -> None:
    def rows(text: str, width: int) -> list[str]:
        laid = lay_out(Text(text), width)
        return [laid.plain(row) for row in range(len(laid.rows))]

    assert rows("She lays eggs", 9) == ["She lays", "eggs"]
    assert rows("    indented code stays", 12) == ["    indented", "code stays"]
    assert rows("abcdefgh ij", 3) == ["abc", "def", "gh", "ij"]
    assert rows("蜂蜂蜂 x", 4) == ["蜂蜂", "蜂 x"]
    assert rows("a\tb", 20) == ["a       b"]
    assert rows("", 5) == [""]


def test_keys_arrange_nothing_anew(drive: Drive) -> None:
    """To arrange the screen costs more than all else that a key does."""

    async def script(screens: Screens) -> None:
        arranged: list[object] = []
        await screens.type("q")
        await screens.shows(" ms")
        screens.app.screen.screen_layout_refresh_signal.subscribe(screens.app.screen, arranged.append)
        await screens.type("ueen eggs")
        await screens.shows("1 hit", "3 The queen lays")
        await screens.press(*["backspace"] * 5, "down", "pagedown", "end")
        await screens.until(lambda: screens.pane.words == "queen" and screens.app.pane.thread("search").is_idle)
        assert not arranged

    drive(script)


def test_a_long_list_its_bar_and_the_mouse(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        entries: Entries = screens.pane.entries
        passage = screens.pane.passage
        height = entries.size.height
        entries.fill([Text(f"entry {at}\nof two rows") for at in range(30)])
        passage.put(Text("\n".join(f"line {at}" for at in range(200))), line=100)
        shown = await screens.shows("entry 0", "line 100")
        assert THUMB in shown
        assert "line 99\n" not in shown
        entries.focus()
        await screens.press("end")
        await screens.shows("entry 29")
        assert entries.chosen == 29
        await screens.press("down")  # behind the last comes the first
        await screens.shows("entry 0 ")
        await screens.press("pagedown")
        assert entries.chosen == height // 2
        await screens.press("home", "up", "pageup")
        assert 0 < entries.chosen < 29
        await screens.press("home")
        await screens.pilot.click("#hits", offset=(3, 4))
        await screens.until(lambda: entries.chosen == 2)
        passage.focus()
        await screens.press("end")
        await screens.shows("line 199")
        await screens.press("pageup", "home", "down")
        await screens.shows("line 1 ")
        assert passage.top == 1
        await screens.pilot.resize_terminal(100, 24)
        await screens.shows("line 1 ", "entry 2")

    drive(script)


def test_a_passage_is_selected_with_the_mouse(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        passage = screens.pane.passage
        passage.put(Text.assemble("The ", ("queen", "bold"), " lays eggs"))
        await screens.shows("The queen lays")
        await screens.pilot.hover("#passage", offset=(3, 0))
        await screens.pilot.mouse_down("#passage", offset=(6, 0))
        await screens.pilot.hover("#passage", offset=(10, 0))
        await screens.pilot.mouse_up("#passage", offset=(10, 0))
        await screens.until(screens.app.screen.get_selected_text)
        assert str(screens.app.screen.get_selected_text()).startswith("queen")

    drive(script)


def test_of_a_hostile_library_no_row_steers(drive: Drive) -> None:
    async def script(screens: Screens) -> None:
        entries, passage = screens.pane.entries, screens.pane.passage
        for at in range(0, len(PAYLOADS), 40):
            hits = [a_hit(text=f"The queen {one} lays {one}", path=f"{one}.md", headings=(one,), symbol=one)
                    for one in PAYLOADS[at : at + 40]]  # fmt: skip
            entries.fill([shown.hit_entry(hit, found=True) for hit in hits])
            passage.put(Text("\n").join(shown.passage_alone(hit) for hit in hits))
            for lines in (entries, passage):
                while True:
                    drawn = lines.render_lines(lines.size.region)
                    assert STEERS.search("".join(strip.text for strip in drawn)) is None
                    top = lines.top
                    Lines.action_scroll_page(lines, 1)
                    if lines.top == top:
                        break

    drive(script)
