"""The sentences that say most about something, as they stand in the passages."""

from __future__ import annotations

from lilbee_core.testing.builders import a_chunk
from lilbee_core.types import Chunk, DocumentId
from lilbee_core.wiki._quotes import best_quotes


def chunk(text: str, number: int = 0) -> Chunk:
    return a_chunk(text, path=f"{number}.md", document_id=DocumentId(f"d{number}"))


def quoted(
    *texts: str, names: tuple[str, ...] = ("honey bee",), others: tuple[str, ...] = (), most: int = 8
) -> list[str]:
    chunks = [chunk(text, number) for number, text in enumerate(texts)]
    return [quote.text for quote in best_quotes(chunks, names, others, most=most)]


def test_sentences_that_name_it_and_most_of_what_goes_with_it_come_first() -> None:
    text = (
        "Nothing is said of it in this first sentence at all. We saw a honey bee on the way to the old mill. "
        "Pollen and nectar are what Honey Bees carry home to their hive."
    )

    assert quoted(text, others=("pollen", "nectar")) == [
        "Pollen and nectar are what Honey Bees carry home to their hive.",
        "We saw a honey bee on the way to the old mill.",
    ]


def test_a_heading_that_nothing_marks_is_no_part_of_a_sentence() -> None:
    told = "A honey bee colony swarms because it is well, not because it is ill."
    page = a_chunk(f"2. Swarms\n{told}", headings=("Handbook", "Swarms"), title="Handbook")

    (quote,) = best_quotes([page], ["honey bee"], [], most=8)
    assert quote.text == told
    assert quote.span.cut(page.text) == told


def test_headings_tables_lists_and_scraps_are_no_sentences() -> None:
    text = (
        "# All about the honey bee and its many habits\n\nhoney bee!\n\n| honey bee | one of the many things here |\n\n"
        "- The honey bee visits the garden every morning in May.\n"
    )

    assert quoted(text) == ["The honey bee visits the garden every morning in May."]


def test_records_are_no_prose() -> None:
    assert quoted('{"stand": 8, "queen": "Patricia", "born": 2023, "kind": "honey bee", "note": "calm"}') == []


def test_every_quote_stands_in_its_passage() -> None:
    one = chunk("1. The honey bee\nvisits the garden every morning in May. The honey bee sleeps at night in the hive.")
    quotes = best_quotes([one], ["honey bee"], [], most=8)

    assert [quote.span.cut(one.text) for quote in quotes] == [
        "The honey bee\nvisits the garden every morning in May.",
        "The honey bee sleeps at night in the hive.",
    ]


def test_no_two_are_alike_and_no_document_has_more_than_three() -> None:
    same = "The honey bee visits the garden every morning in May."
    many = (
        "The honey bee carries pollen home to its brood. A farmer near the river keeps some honey bee hives. "
        "Winter kills many a honey bee queen in the north. Every honey bee of the village knows its own door. "
        "Foxes and badgers do not eat any honey bee at all."
    )

    assert quoted(same, same, f"{same[:-1]} again.") == [same]
    assert len(quoted(many)) == 3
    assert len(quoted(many, most=1)) == 1


def test_a_part_of_another_word_is_no_name() -> None:
    assert quoted("The bees of the subbee kind and the webee live here.", names=("bee",)) == [
        "The bees of the subbee kind and the webee live here."
    ]
    assert quoted("The subbee kind and the webee live here in the garden.", names=("bee",)) == []
