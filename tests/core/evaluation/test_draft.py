"""Judged queries drafted from documents."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_core.evaluation import EvaluationSet
from lilbee_core.testing import HashEmbedder

FILES = {
    "hives.md": "# Hives\n\n## Where hives should stand\n\nA hive stands dry and in the sun. It faces south.\n",
    "winter.md": "# Winter\n\n```\nlilbee sync\n```\n\nThe cluster shivers to keep the queen warm. It eats honey.\n",
    "code.py": "import os\n\n\ndef run(a, b):\n    return {a: b, b: [a, os.sep]}\n",
    "twin1.txt": "Both of these files say the very same words.\n",
    "twin2.txt": "Both of these files say the very same words.\n",
    "chinese.txt": "蜜蜂在冬天靠吃蜂蜜和互相靠近来保持温暖。春天来了。\n",
    "short.txt": "Honey.\n",
    "odd\tname.txt": "A name with a tab in it is still a good name.\n",
}


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")
    with Lilbee(folder, embedder=HashEmbedder()) as library:
        library.sync()
        yield library


def test_headings_and_sentences_become_queries_of_their_document(bee: Lilbee) -> None:
    drafted = {one.document: one for one in bee.evaluation.draft_queries().drafted}
    texts = {name.removeprefix("papers/"): one.text for name, one in drafted.items()}
    assert texts["hives.md"] in {"Where hives should stand", "A hive stands dry and in the sun."}
    assert texts["winter.md"] == "The cluster shivers to keep the queen warm."
    assert texts["chinese.txt"] == "蜜蜂在冬天靠吃蜂蜜和互相靠近来保持温暖。"
    assert "twin1.txt" not in texts, "a text of two documents is no judgment of one"
    assert "short.txt" not in texts
    assert "code.py" not in texts
    odd = next(one for one in drafted.values() if one.text.startswith("A name with a tab"))
    assert "\t" not in odd.document


def test_the_same_library_gives_the_same_drafts_and_no_more_than_asked(bee: Lilbee) -> None:
    first = bee.evaluation.draft_queries(3)
    assert len(first) == 3
    assert bee.evaluation.draft_queries(3) == first
    with pytest.raises(InvalidArgument, match="limit"):
        bee.evaluation.draft_queries(0)


def test_they_can_be_run_at_once_and_as_a_folder_without_documents(bee: Lilbee, tmp_path: Path) -> None:
    drafted = bee.evaluation.draft_queries()
    at_once = bee.evaluation.run(drafted.queries, drafted.qrels, profile="keyword")
    assert at_once.queries == len(drafted) == 4
    assert at_once["success@5"] == 1
    judged = bee.evaluation.open(drafted.write(tmp_path / "drafts"))
    assert not judged.has_documents
    again = bee.evaluation.run(judged.queries(), judged.qrels(), profile="keyword")
    assert [one.ranking for one in again.per_query] == [one.ranking for one in at_once.per_query]


def test_drafts_that_nobody_edited_are_told_and_never_overwritten(bee: Lilbee, tmp_path: Path) -> None:
    folder = bee.evaluation.draft_queries().write(tmp_path / "drafts")
    assert "4 of 4 queries are drafts" in EvaluationSet.open(folder).warnings()[0]
    lines = [json.loads(line) for line in (folder / "queries.jsonl").read_text("utf-8").splitlines()]
    lines[0]["text"] = "where to put a hive?"
    (folder / "queries.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    assert "3 of 4 queries are drafts" in EvaluationSet.open(folder).warnings()[0]
    with pytest.raises(InvalidArgument, match="there already"):
        bee.evaluation.draft_queries().write(folder)


def test_queries_of_ones_own_are_no_drafts(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "honey", "metadata": {}}\n', "utf-8")
    (tmp_path / "qrels.tsv").write_text("q\ta\t1\n", "utf-8")
    assert EvaluationSet.open(tmp_path).warnings() == ()
