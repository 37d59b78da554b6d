"""Calendars come out as text, with places."""

from pathlib import Path

import pytest
from acme_lilbee.events import CalendarExtractor, readable, unescape

from lilbee_core.errors import ExtractError, LimitExceeded, NoText
from lilbee_core.testing import ReadContext, a_source
from lilbee_core.testing.contracts import ExtractorContract

CALENDAR = (Path(__file__).parent / "club.ics").read_bytes()
EVENT = "BEGIN:VCALENDAR\nBEGIN:VEVENT\n{}\nEND:VEVENT\nEND:VCALENDAR\n"


def calendar(data=CALENDAR):
    return a_source(data, path="club.ics", media_type="text/calendar")


def read(data=CALENDAR):
    return CalendarExtractor().extract(calendar(data), ReadContext())


class TestCalendarExtractor(ExtractorContract):
    """The public checks for every extractor, on the sample calendar and on one with other line ends."""

    def make(self):
        return CalendarExtractor()

    def sources(self):
        return [calendar(), calendar(CALENDAR.replace(b"\n", b"\r\n"))]


def test_events_are_readable():
    assert read().text.split("\n")[:8] == [
        "from 2026-05-03 10:00",
        "to 2026-05-03 12:00",
        "Spring meeting",
        "at Club house, Mill Lane 3",
        "Bring honey, wax",
        "and a smoker. We look at all hives together, and talk about swarms.",
        "by Ada Keeper",
        "due 2026-09-01",
    ]


def test_lines_are_those_of_the_file():
    lines = CALENDAR.decode().split("\n")
    document = read()
    named = [lines[number - 1].partition(":")[0].partition(";")[0] for number in document.line_map]
    assert named == [
        "DTSTART", "DTEND", "SUMMARY", "LOCATION", "DESCRIPTION", "DESCRIPTION", "ORGANIZER",
        "DUE", "SUMMARY", "DTSTART", "SUMMARY",
    ]  # fmt: skip


def test_every_entry_is_a_section():
    document = read()
    assert [one.title for one in document.headings] == [
        "Spring meeting", "Treat hive seven against mites", "Ölkerzen ziehen 🕯",
    ]  # fmt: skip
    assert [one.label for one in document.segments][1] == "task Treat hive seven against mites"
    for heading, segment in zip(document.headings, document.segments, strict=True):
        assert heading.title in segment.span.cut(document.text)


def test_the_calendar_names_title_and_date():
    document = read()
    assert (document.title, document.date, document.metadata["events"]) == ("Beekeepers' club", "2026-12-24", 3)


def test_a_calendar_that_is_cut_off_says_so():
    document = read(CALENDAR[: CALENDAR.index(b"ORGANIZER")])
    assert document.warnings == ("the last entry is cut off",)


@pytest.mark.parametrize("data", [b"", b"Dear club,", b"\x00\x01", b"BEGIN:VCARD\nEND:VCARD\n"])
def test_what_is_no_calendar_is_refused(data):
    with pytest.raises(ExtractError) as error:
        read(data)
    assert error.value.code == "extract.damaged"
    assert error.value.hint


def test_a_calendar_without_events_has_no_text():
    with pytest.raises(NoText):
        read(b"BEGIN:VCALENDAR\nEND:VCALENDAR\n")


def test_the_limit_is_kept():
    with pytest.raises(LimitExceeded):
        CalendarExtractor().extract(calendar(), ReadContext(max_chars=20))
    size = len(read().text)
    assert CalendarExtractor().extract(calendar(), ReadContext(max_chars=size)).text


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("SUMMARY:a\\;b\\\\n", "a;b\\n"),
        ("DTSTART;VALUE=DATE:20260101", "from 2026-01-01"),
        ("DTSTART:tomorrow", "from tomorrow"),
        ('ATTENDEE;CN="Bo, Peep":mailto:bo@x', "with Bo, Peep"),
        ("ATTENDEE:mailto:bo@x", "with bo@x"),
        ("summary:lower case", "lower case"),
    ],
)
def test_properties(line, text):
    assert read(EVENT.format(line).encode()).text == text


def test_small_parts():
    assert unescape("a\\, b\\Nc") == "a, b\nc"
    assert readable("20260503T100000Z") == "2026-05-03 10:00 UTC"
