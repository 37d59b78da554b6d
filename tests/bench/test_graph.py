"""The graph of concepts: what it costs to find, count, cluster and update, and whether a search finds more with it."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from lilbee_core import Document, Lilbee, Settings
from lilbee_core.analysis import detect_language
from lilbee_core.concepts import RuleExtractor, SpacyExtractor, can_cluster, installed_models
from lilbee_core.concepts._communities import with_communities
from lilbee_core.concepts._counting import Counted, count
from lilbee_core.concepts._decisions import Decisions
from lilbee_core.evaluation import EvaluationSet
from lilbee_core.store import Store
from lilbee_core.testing.builders import a_chunk
from lilbee_core.types import Chunk, ChunkId, Concept, DocumentId, GraphTable, Mention
from tests.bench._figures import Figure, Report, at_least_times, at_most, at_most_times
from tests.bench._world import World

TEXTS = 3_000
SPACY_TEXTS = 300
NODES, EDGES, GROUPS = 20_000, 200_000, 100
CHANGED = 0.01
DEPTH = 10


def judged(name: str) -> EvaluationSet:
    folder = Path(os.environ.get("LILBEE_EVAL_DIR", "")) / name
    if not (folder / "queries.jsonl").is_file():
        pytest.skip(f"LILBEE_EVAL_DIR names no folder with {name}")
    return EvaluationSet.open(folder)


def chunk_of(document: Document, number: int, *, media_type: str = "text/plain") -> Chunk:
    return a_chunk(
        document.text,
        title=document.title,
        language=detect_language(document.text),
        path=document.path,
        media_type=media_type,
        id=ChunkId(f"{number:08}"),
        document_id=DocumentId(f"{number:08}"),
    )


def chunks_of(name: str, most: int, **changes: str) -> list[Chunk]:
    documents = islice(judged(name).documents(), most)
    return [chunk_of(document, number, **changes) for number, document in enumerate(documents)]


def cpu_s(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


@pytest.mark.parametrize(("name", "kind"), [("scifact", "plain"), ("xquad", "plain"), ("cosqa", "x-python")])
def test_rules(world: World, report: Report, name: str, kind: str) -> None:
    chunks = chunks_of(name, world.size(TEXTS), media_type=f"text/{kind}")
    extractor = RuleExtractor()
    spent = cpu_s(lambda: extractor.extract(chunks))
    chars = sum(len(chunk.text) for chunk in chunks)
    report.add(
        Figure(
            id="G1",
            what=f"concepts by rules, CPU per 1,000 characters of {name}",
            note=f"{len(chunks)} texts, {chars:,} characters",
            value=spent / chars * 1e6,
            unit="ms",
            goal=at_most(2.0),
        )
    )


def test_spacy(world: World, report: Report) -> None:
    models = installed_models()
    if "en" not in models:
        pytest.skip("no spaCy model for English is installed")
    chunks = [chunk for chunk in chunks_of("scifact", world.size(SPACY_TEXTS)) if chunk.language == "en"]
    extractor = SpacyExtractor({"en": models["en"]})
    extractor.extract(chunks[:2])
    pipeline = extractor._loaded["en"]
    rounds = range(3)
    bare = min(cpu_s(lambda: list(pipeline.pipe([one.text for one in chunks], batch_size=64))) for _ in rounds)
    ours = min(cpu_s(lambda: extractor.extract(chunks)) for _ in rounds)
    report.add(
        Figure(
            id="G2",
            what="concepts by spaCy, CPU per text",
            note=f"{len(chunks)} abstracts, {models['en']}, the faster of 3 each",
            value=ours / len(chunks) * 1e3,
            unit="ms",
            base=bare / len(chunks) * 1e3,
            base_name="the bare pipeline",
            goal=at_most_times(1.2),
        )
    )


def test_clustering(world: World, report: Report) -> None:
    if not can_cluster():
        pytest.skip("graspologic-native is not installed")
    graph = planted(world.size(NODES), world.size(EDGES))
    counted = Counted(graph, np.zeros(0, np.int64), np.zeros(0, np.int64))
    began = time.process_time()
    first = with_communities(counted)
    seconds = time.process_time() - began
    began = time.process_time()
    again = with_communities(counted, first)
    more = time.process_time() - began
    kept = sum(old.community == new.community for old, new in zip(first.concepts, again.concepts, strict=True))
    report.add(
        Figure(
            id="G3",
            what=f"CPU for communities of {len(graph.concepts):,} concepts and {len(graph.counts):,} edges",
            note=f"{len(first.communities)} communities",
            value=seconds,
            unit="s",
            goal=at_most(1.0),
        ),
        Figure(
            id="G3",
            what="the same once more, drawn by those of before",
            note=f"{kept / len(graph.concepts):.1%} of the concepts stay in theirs",
            value=more,
            unit="s",
            goal=at_most(1.0),
        ),
    )


def planted(nodes: int, edges: int) -> GraphTable:
    """Return a graph whose concepts mostly meet those of their own group."""
    chance = random.Random(5)
    size = nodes // GROUPS
    pairs: set[tuple[int, int]] = set()
    while len(pairs) < edges:
        one = chance.randrange(nodes)
        other = one // size * size + chance.randrange(size) if chance.random() < 0.8 else chance.randrange(nodes)
        if one != other and other < nodes:
            pairs.add((min(one, other), max(one, other)))
    ordered = np.array(sorted(pairs), dtype=np.int64)
    return GraphTable(
        concepts=tuple(Concept(id=f"{at:06}", label=f"{at:06}", chunks=5 + at % 30) for at in range(nodes)),
        sources=ordered[:, 0],
        targets=ordered[:, 1],
        counts=np.array([chance.randint(1, 5) for _ in ordered], dtype=np.int64),
        chunks=20 * nodes,
    )


def test_an_update(world: World, report: Report) -> None:
    chunks = chunks_of("scifact", world.size(5_000))
    with Store.open(world.folder / "graph-update") as store:
        full = cpu_s(lambda: build(store, chunks))
        changed = [replace(one, text=f"{one.text} Updated.") for one in chunks[: max(1, round(CHANGED * len(chunks)))]]
        update = min(cpu_s(lambda: build(store, changed)) for _ in range(3))
    report.add(
        Figure(
            id="G4",
            what=f"an update of {len(changed)} of {len(chunks)} documents, CPU without Leiden",
            note="find, write, count, save",
            value=update,
            unit="s",
            base=full,
            base_name="all of them",
            goal=at_most_times(0.05),
        )
    )


def build(store: Store, chunks: Sequence[Chunk]) -> None:
    found = RuleExtractor().extract(chunks)
    mentions: Mapping[DocumentId, dict[ChunkId, tuple[Mention, ...]]] = {
        chunk.document_id: {chunk.id: of} for chunk, of in zip(chunks, found, strict=True)
    }
    store.concepts.put(mentions)
    store.concepts.save(count(store.concepts.table(), Decisions()).graph)


def test_searches_that_need_two_texts(world: World, report: Report) -> None:
    """How often both texts that a question needs are among the first ten: alone, boosted, and with related concepts."""
    if not can_cluster():
        pytest.skip("graspologic-native is not installed")
    questions = judged("hotpotqa-500")
    queries = dict(islice(questions.queries().items(), world.size(500)))
    qrels = questions.qrels()
    found: dict[str, dict[str, list[str]]] = {}
    for name, changes, profile in (
        ("default", {}, "default"),
        ("boosted", {"concept_boost": 0.3}, "default"),
        ("with related concepts", {}, "full"),
    ):
        with Lilbee(data_dir=world.folder / "graph-hotpotqa", settings=Settings().changed(changes)) as bee:
            bee.add_documents(questions.documents())
            found[name] = {key: list(first_texts(bee, text, profile)) for key, text in queries.items()}
    base = [both(found["default"][key], qrels[key]) for key in queries]
    for name in list(found)[1:]:
        values = [both(found[name][key], qrels[key]) for key in queries]
        more = sum(new > old for new, old in zip(values, base, strict=True))
        fewer = sum(new < old for new, old in zip(values, base, strict=True))
        report.add(
            Figure(
                id="G5",
                what=f"both texts among the first {DEPTH}, {name}",
                note=f"{len(queries)} questions: {more} more and {fewer} fewer than without",
                value=sum(values) / len(values),
                unit="",
                base=sum(base) / len(base),
                base_name="default",
                goal=at_least_times(1.0),
            )
        )


def first_texts(bee: Lilbee, text: str, profile: str) -> Iterator[str]:
    """Yield the first documents, each once."""
    paths = (hit.path for hit in bee.search(text, top_k=3 * DEPTH, profile=profile))
    yield from islice(dict.fromkeys(paths), DEPTH)


def both(paths: Sequence[str], relevant: Mapping[str, int]) -> bool:
    wanted = {name for name, grade in relevant.items() if grade > 0}
    return wanted <= set(paths)
