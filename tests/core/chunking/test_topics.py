"""Semantic chunking: cut where topics change, verbatim, bounded, the same every time (R071)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lilbee_core.chunking import TokenChunker, TopicFinder
from lilbee_core.errors import InvalidArgument
from lilbee_core.text import EstimatedTokens
from lilbee_core.types import Chunk, Document, DocumentId, Heading, Span, Symbol, Vectors

TOPICS = ("hive queen drone brood comb", "keel anchor tide harbor mast", "oven flour yeast crumb dough")
OTHERS = (
    "ledger invoice budget margin audit",
    "glacier moraine ridge rope summit",
    "token grammar parser symbol scope",
)


class WordVectors:
    """Vectors that count words by topic, and how many texts were asked for."""

    def __init__(self) -> None:
        self.asked: list[int] = []

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.asked.append(len(texts))
        rows = [
            [0.01 + sum(text.count(word) for word in topic.split()) for topic in (*TOPICS, *OTHERS)] for text in texts
        ]
        vectors = np.array(rows, dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def story(topic: str, count: int) -> str:
    words = topic.split()
    return " ".join(f"The {words[at % 5]} was near the {words[(at + 2) % 5]} in the year {at}." for at in range(count))


def chunker(embed: WordVectors | None = None, *, size: int = 150, percentile: int = 90) -> TokenChunker:
    topics = TopicFinder(embed or WordVectors(), model="fake", percentile=percentile)
    return TokenChunker(EstimatedTokens(), chunk_size=size, overlap=20, topics=topics)


def split(document: Document, **more: int) -> tuple[Chunk, ...]:
    return chunker(**more).split(document, DocumentId("d"))


def topics_in(text: str) -> set[str]:
    return {topic for topic in (*TOPICS, *OTHERS) if any(word in text for word in topic.split())}


def test_chunks_end_where_the_topic_does() -> None:
    text = " ".join(story(topic, 6) for topic in (*TOPICS, *OTHERS))
    semantic = split(Document(path="a.txt", text=text), percentile=80)
    plain = TokenChunker(EstimatedTokens(), chunk_size=150, overlap=20).split(
        Document(path="a.txt", text=text), DocumentId("d")
    )
    assert all(len(topics_in(chunk.text)) == 1 for chunk in semantic)
    assert any(len(topics_in(chunk.text)) > 1 for chunk in plain)
    assert [topics_in(chunk.text) for chunk in semantic] == [{topic} for topic in (*TOPICS, *OTHERS)]


def test_a_topic_longer_than_a_chunk_is_cut_by_size() -> None:
    text = " ".join(story(topic, 40) for topic in TOPICS)
    chunks = split(Document(path="a.txt", text=text))
    assert all(EstimatedTokens().count_tokens(chunk.text) <= 150 for chunk in chunks)
    assert sum(len(topics_in(chunk.text)) > 1 for chunk in chunks) == 0


def test_sections_are_kept_and_short_ones_cost_nothing() -> None:
    embed = WordVectors()
    text = f"# One\n\n{story(TOPICS[0], 2)}\n\n# Two\n\n{story(TOPICS[1], 2)}\n"
    headings = (Heading(start=0, level=1, title="One"), Heading(start=text.index("# Two"), level=1, title="Two"))
    chunks = chunker(embed, size=200).split(Document(path="a.md", text=text, headings=headings), DocumentId("d"))
    assert [chunk.headings for chunk in chunks] == [("One",), ("Two",)]
    assert embed.asked == []


def test_code_and_data_are_left_alone() -> None:
    embed = WordVectors()
    text = "\n".join(f"def hive_{at}():\n    return 'queen {at}. drone {at}. keel {at}.'" for at in range(40))
    symbol = Symbol(span=Span(0, len(text)), name="hive", kind="function")
    for document in (
        Document(path="a.py", text=text, media_type="text/x-python", symbols=(symbol,)),
        Document(path="a.csv", text=text, media_type="text/csv"),
    ):
        assert chunker(embed).split(document, DocumentId("d"))
    assert embed.asked == []


def test_a_long_document_is_embedded_in_blocks() -> None:
    embed = WordVectors()
    text = "\n\n".join(story(topic, 300) for topic in (*TOPICS, *OTHERS))
    headings = tuple(Heading(start=text.index(story(topic, 300)), level=1, title=topic) for topic in (*TOPICS, *OTHERS))
    chunks = list(chunker(embed).stream(Document(path="a.txt", text=text, headings=headings), DocumentId("d")))
    assert len(embed.asked) > 1
    assert max(embed.asked) <= 1024
    assert chunks[-1].span.end == len(text)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([*TOPICS, *OTHERS, "", "\n\n"]), st.integers(0, 30)), max_size=12),
    st.integers(30, 200),
)
@example([("\n\n", 2), (TOPICS[0], 3)], 30)
@example([(TOPICS[0], 0), (TOPICS[1], 10), (OTHERS[1], 17)], 53)
def test_nothing_is_lost_and_all_is_verbatim(stories: list[tuple[str, int]], size: int) -> None:
    text = " ".join(story(topic, count) if topic.strip() else topic * count for topic, count in stories)
    document = Document(path="a.txt", text=text)
    chunks = split(document, size=size)
    assert chunks == split(document, size=size)
    held = set[int]()
    for chunk in chunks:
        assert chunk.text == chunk.span.cut(text)
        assert EstimatedTokens().count_tokens(chunk.text) <= size
        held |= set(range(chunk.span.start, chunk.span.end))
    assert all(at in held for at, sign in enumerate(text) if not sign.isspace())


def test_the_way_of_cutting_is_told() -> None:
    names = {chunker(percentile=80).fingerprint, chunker(percentile=90).fingerprint}
    names.add(TokenChunker(EstimatedTokens(), chunk_size=150, overlap=20).fingerprint)
    assert len(names) == 3
    with pytest.raises(InvalidArgument, match="between 50 and 99"):
        chunker(percentile=100)
