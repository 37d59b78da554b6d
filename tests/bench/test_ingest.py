"""P4 and P5: indexing, against the rival and against the embedder alone. P9: what it leaves on disk."""

from __future__ import annotations

import json
from typing import Any, cast

from tests.bench._figures import Figure, Report, at_least_times, at_most, at_most_times
from tests.bench._measure import Run, folder_bytes, run
from tests.bench._servers import EmbedServer, Record
from tests.bench._world import ROOT, Corpus, World, lilbee, standard_library, tool

PEER = "rival"


def test_sources_against_the_rival(
    world: World, report: Report, server: EmbedServer, sources: Corpus, rival: dict[str, Record] | None
) -> None:
    data = world.folder / "sources-data"
    server.reset()
    ours = run(
        [*lilbee(), "sync", "--library", sources.folder, "--data-dir", data, "--json"], env=world.env(**server.settings)
    )
    asked = server.stats()
    done = cast("dict[str, Any]", json.loads(ours.out))
    theirs = rival["ingest"] if rival else {}
    note = f"{sources.files} files, {sources.megabytes:.1f} MB, {done['chunks']} chunks, {asked['requests']} requests"
    report.add(
        Figure(
            id="P4",
            what="ingest of source files as text, instant embeddings",
            note=note,
            value=sources.megabytes / ours.wall_s,
            unit="MB/s",
            base=sources.megabytes / theirs["seconds"] if theirs else None,
            base_name=PEER,
            goal=at_least_times(2.5),
        ),
        Figure(
            id="P4",
            what="the same, CPU seconds of all processes",
            value=ours.cpu_s,
            unit="s",
            base=theirs.get("cpu_s"),
            base_name=PEER,
            goal=at_most_times(0.5),
        ),
        Figure(
            id="P4",
            what="the same, memory of all processes at the most",
            value=ours.peak_mb,
            unit="MB",
            base=theirs.get("tree_mb"),
            base_name=PEER,
            goal=at_most_times(0.8),
        ),
        *_on_disk(folder_bytes(data), done["chunks"], sources, rival),
    )
    again(world, report, server, sources, rival)


def _on_disk(size: int, chunks: int, sources: Corpus, rival: dict[str, Record] | None) -> list[Figure]:
    theirs = rival["index"] if rival else {}
    per_chunk = theirs.get("bytes_per_chunk")
    return [
        Figure(
            id="P9",
            what="everything on disk, per chunk",
            value=size / chunks / 1000,
            unit="KB",
            base=per_chunk / 1000 if per_chunk else None,
            base_name=PEER,
            goal=at_most(3.0),
        ),
        Figure(
            id="P9",
            what="everything on disk, per byte of the files",
            value=size / sources.bytes,
            unit="",
            base=theirs["bytes"] / sources.bytes if theirs else None,
            base_name=PEER,
        ),
    ]


def again(world: World, report: Report, server: EmbedServer, sources: Corpus, rival: dict[str, Record] | None) -> None:
    """Sync the sources once more, now that nothing has changed."""
    ours = run(
        [*lilbee(), "sync", "--library", sources.folder, "--data-dir", world.folder / "sources-data", "--json"],
        env=world.env(**server.settings),
    )
    unchanged = json.loads(ours.out)["unchanged"]
    report.add(
        Figure(
            id="P6",
            what="`lilbee sync` of the source files, nothing changed",
            note=f"{unchanged} files",
            value=ours.wall_s,
            unit="s",
            base=rival["resync"]["seconds"] if rival else None,
            base_name=PEER,
        )
    )


def test_the_built_in_embedder_against_itself_alone(world: World, report: Report) -> None:
    every = 400 if world.quick else 40
    corpus = standard_library(world.folder / "some-sources", every=every, first=3)
    texts = world.folder / "texts.json"
    pairs: list[tuple[Record, Record, Run, Run]] = []
    for turn in range(world.times(2)):
        data = world.folder / f"some-sources-data-{turn}"
        whole = run(tool("ingest_built_in", corpus.folder, data, texts), env=world.env(), cwd=ROOT)
        alone = run(tool("embed_alone", texts), env=world.env(), cwd=ROOT)
        pairs.append((json.loads(whole.out), json.loads(alone.out), whole, alone))
    whole_s = min(first["seconds"] for first, *_ in pairs)
    alone_s = min(second["seconds"] for _, second, *_ in pairs)
    count = pairs[0][1]["texts"]
    report.add(
        Figure(
            id="P5",
            what="ingest with the built-in embedder",
            note=f"{corpus.files} files, {count} texts",
            value=count / whole_s,
            unit="texts/s",
            base=count / alone_s,
            base_name="embedder alone",
            goal=at_least_times(0.9),
        ),
        Figure(
            id="P5",
            what="the same, CPU seconds",
            value=min(first["cpu_s"] for first, *_ in pairs),
            unit="s",
            base=min(second["cpu_s"] for _, second, *_ in pairs),
            base_name="embedder alone",
        ),
        Figure(
            id="P5",
            what="the same, memory of all processes at the most",
            value=min(one.peak_mb for _, _, one, _ in pairs),
            unit="MB",
            base=min(one.peak_mb for *_, one in pairs),
            base_name="embedder alone",
        ),
    )
