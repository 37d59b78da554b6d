"""Three versions of a page made into one, and what links, marks and broken replies are read as (R224, R230)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.types import Chunk, ChunkId, DocumentId, Span
from lilbee_core.wiki import backlinks, links_of, merge
from lilbee_core.wiki._checking import Checker
from lilbee_core.wiki._links import Names, essence, linked
from lilbee_core.wiki._reply import Said, Section, sections_in

LINES = st.lists(st.sampled_from(["a", "b", "c", "d", ""]), max_size=8)


@given(base=LINES, ours=LINES, theirs=LINES)
def test_a_merge_keeps_what_only_one_side_did(base: list[str], ours: list[str], theirs: list[str]) -> None:
    one, two, three = ("\n".join(lines) for lines in (base, ours, theirs))
    assert merge(one, two, one).text.splitlines() == two.splitlines()
    assert merge(one, one, three).text.splitlines() == three.splitlines()
    assert merge(one, two, two) == merge(one, two, two)
    assert merge(one, two, two).conflicts == 0
    merged = merge(one, two, three)
    if not merged.conflicts:
        assert set(merged.text.splitlines()) <= set(ours) | set(theirs)


@given(base=LINES, ours=LINES, theirs=LINES)
def test_lines_that_a_person_wrote_are_never_lost(base: list[str], ours: list[str], theirs: list[str]) -> None:
    mine = [f"{line}!" if at % 2 else line for at, line in enumerate(ours)]
    merged = merge("\n".join(base), "\n".join(mine), "\n".join(theirs))
    assert [line for line in merged.text.splitlines() if line.endswith("!")] == [
        line for line in mine if line.endswith("!")
    ]


@pytest.mark.parametrize(
    ("base", "ours", "theirs", "merged"),
    [
        ("a\nb\nc", "a\nmine\nb\nc", "a\nb\nnew", "a\nmine\nb\nnew"),
        ("a\nb", "a\nb\nmine", "a\nB", "a\nB\nmine"),
        ("a\nb", "mine\na\nb", "A\nb", "mine\nA\nb"),
        ("a\nb\nc", "a\nc", "a\nb\nc\nd", "a\nc\nd"),
        ("a\nb", "a\nmine", "a\ntheirs", None),
        ("a\nb", "a", "a\ntheirs", None),
    ],
)
def test_what_both_sides_changed_is_a_conflict(base: str, ours: str, theirs: str, merged: str | None) -> None:
    found = merge(base, ours, theirs)
    assert (found.text, found.conflicts) == ((merged, 0) if merged is not None else (ours, 1))


BODY = """# Kent

Kent has hives, and the hives of `Kent hives` stand in [the hives](x) near https://hives.example. [^1]
Hives again. See [[almond]].

```
hives
```

[^1]: hives.md
"""


def test_names_become_links_once_and_never_in_code_citations_or_links() -> None:
    found = linked(BODY, Names({"hives": "hive", "Kent": "kent", "almond": "almond"}), own="kent")
    assert found == BODY.replace("Kent has hives", "Kent has [[hive|hives]]")
    assert links_of(found) == ("hive", "almond")
    assert linked(found, Names({"hives": "hive"}), own="kent") == found
    assert essence(found) == essence(BODY.replace("[[almond]]", "almond"))
    assert backlinks({"kent": found, "hive": "[[kent|Kent]] [[concepts/kent]] [[hive]]", "almond": ""}) == {
        "kent": ("hive",),
        "hive": ("kent",),
        "almond": ("kent",),
    }


def test_a_reply_is_read_as_far_as_it_is_whole() -> None:
    said = [{"text": f'Sentence "{n}" {{x}} \\ ends.', "passages": [n]} for n in (1, 2, 3)]
    whole = json.dumps({"pages": [{"title": "A", "sentences": said}, {"title": "B", "sentences": said}]})
    counts = {sum(len(one.said) for one in sections_in(whole[:end])) for end in range(len(whole) + 1)}
    assert counts == set(range(7)), "every sentence that is whole, and none that is not"
    assert sections_in(f"Let me think [1], {{as asked}}: {whole} Done [2].") == sections_in(whole)
    assert sections_in(f"Here you are:\n```json\n{whole}\n```") == sections_in(whole)


@pytest.mark.parametrize(
    "reply",
    ["", "{", "[[[[[[", '{"pages": [{"title": 3}]}', '{"pages": [{"title": "", "sentences": ["x"]}]}', "null", "[1, 2]",
     "[" * 100_000, '{"pages": {"title": "x"}}', '{"pages": [{"title": "!", "sentences": ["A word."]}]}'],
)  # fmt: skip
def test_what_is_no_reply_says_nothing(reply: str) -> None:
    assert sections_in(reply) == ()


def test_marks_may_stand_in_the_sentence_or_beside_it() -> None:
    value = [{"title": "A", "sentences": ["Bees fly [2]. They sleep [1][3].", {"text": "And eat.", "passages": "2"}]}]
    assert sections_in(json.dumps(value)) == (
        Section("A", (Said("Bees fly.", (2,)), Said("They sleep.", (1, 3)), Said("And eat.", (2,)))),
    )


def chunk(number: int, text: str) -> Chunk:
    return Chunk(
        id=ChunkId(f"c{number}"), document_id=DocumentId(f"d{number}"), collection="notes", path=f"{number}.md",
        ordinal=0, text=text, span=Span(0, len(text)),
    )  # fmt: skip


def test_a_sentence_is_kept_with_the_words_that_bear_it_out_or_not_at_all() -> None:
    checker = Checker([chunk(1, "Bees fly in spring. Wasps sleep."), chunk(2, "The hive holds 40 litres of honey.")])
    kept, dropped = checker.sentences(
        [
            Said("Bees fly in spring.", (1,)),
            Said("Bees fly in spring.", (2,)),
            Said("The hive holds 40 litres of honey.", (1,)),
            Said("The hive holds 50 litres of honey.", (2,)),
            Said("Wasps do not sleep.", (1,)),
            Said("Nothing of this is known anywhere.", (99,)),
            Said("See.", (1,)),
        ]
    )
    assert [(one.text, [(it.chunk_id, it.quote) for it in one.backed]) for one in kept] == [
        ("Bees fly in spring.", [("c1", "Bees fly in spring.")]),
        ("The hive holds 40 litres of honey.", [("c2", "The hive holds 40 litres of honey.")]),
    ]
    assert len(dropped) == 4
    assert checker.knows("Honey bees")
    assert not checker.knows("HACKED by evil")
    assert not checker.knows("honey https://evil.example")
