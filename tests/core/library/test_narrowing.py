"""Filters that name what is not there say so, with what is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Filter, Lilbee
from lilbee_core.errors import NotFound


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    root = tmp_path / "notes"
    root.mkdir()
    for name in ("bees.md", "boats.md", "ferry.txt"):
        (root / name).write_text(f"The queen and the {name}.\n", encoding="utf-8")
    with Lilbee(root, overrides={"embedding_model": "none"}) as made:
        made.sync()
        yield made


def test_an_unknown_collection_is_refused_with_the_known_ones(bee: Lilbee) -> None:
    for call in (
        lambda: bee.search("queen", filters=Filter(collections=("note",))),
        lambda: bee.ask("queen?", filters=Filter(collections=("note",))),
        lambda: bee.explain_document("bees.md", "queen", filters=Filter(collections=("note",))),
        lambda: list(bee.documents(collection="note")),
    ):
        with pytest.raises(NotFound, match="there is no collection 'note'") as told:
            call()
        assert told.value.hint == "Did you mean notes? Choose one of notes."
    assert bee.search("queen", filters=Filter(collections=("notes",))).hits


def test_a_type_that_no_document_has_is_named_with_those_there_are(bee: Lilbee) -> None:
    wanted = "no document has the type nonsense; there are: md (2), txt (1)"
    assert wanted in bee.search("queen", filters=Filter(media_types=("nonsense",))).warnings
    assert wanted in bee.search("queen type:nonsense").warnings
    for kind in ("md", ".md", "text/*", "text/markdown"):
        result = bee.search("queen", filters=Filter(media_types=(kind,)))
        assert result.hits
        assert not result.warnings
    assert not any("no document has the type" in one for one in bee.search("zebra type:md").warnings)


def test_a_query_without_words_says_so(bee: Lilbee) -> None:
    assert bee.search("???!!!").warnings == ("the query has no words to look for",)
    result = bee.search("path:[ ")
    assert any("path:[ is taken as words" in one for one in result.warnings)
    result = bee.search("queen path:[")
    assert result.hits
    assert any("path:[ is taken as words" in one for one in result.warnings)
