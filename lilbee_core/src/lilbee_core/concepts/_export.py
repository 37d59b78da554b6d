"""The graph for other programs, and for people to look at."""

from __future__ import annotations

import json
import re
from enum import StrEnum
from html import escape
from importlib.resources import files
from importlib.util import find_spec
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape as xml
from xml.sax.saxutils import quoteattr

from lilbee_core.concepts._view import GraphView
from lilbee_core.errors import ExtraMissing, InvalidArgument
from lilbee_core.types import Community, Concept

if TYPE_CHECKING:
    from networkx import Graph

_SHOWN = 300
_LINES = 3
"""Edges per concept that a page shows; more would hide everything."""
_KEYS = (
    ("label", "node", "string"), ("kind", "node", "string"), ("chunks", "node", "int"), ("community", "node", "int"),
    ("aliases", "node", "string"), ("weight", "edge", "double"), ("count", "edge", "int"),
)  # fmt: skip
_NO_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
Edge = tuple[int, int, float, int]


class Format(StrEnum):
    """What a graph can be exported as."""

    JSON = "json"
    GRAPHML = "graphml"
    HTML = "html"


def exported(view: GraphView, format: Format | str, *, limit: int | None) -> str:  # noqa: A002 - what it is
    """Return the graph as text.

    Raises:
        InvalidArgument: If there is no such format, or the limit is not positive.
    """
    try:
        chosen = Format(format)
    except ValueError as error:
        names = ", ".join(Format)
        raise InvalidArgument(f"{format!r} is no format of graphs", hint=f"Choose one of {names}.") from error
    if limit is not None and limit < 1:
        raise InvalidArgument(f"limit must be at least 1, got {limit}", hint="Leave it out for all concepts.")
    places = _chosen(view, limit if limit is not None or chosen is not Format.HTML else _SHOWN)
    if chosen is Format.JSON:
        return _json(view, places)
    return _graphml(view, places) if chosen is Format.GRAPHML else _html(view, places)


def to_networkx(view: GraphView) -> Graph[str]:
    """Return a networkx graph.

    Raises:
        ExtraMissing: If networkx is not installed.
    """
    if find_spec("networkx") is None:
        raise ExtraMissing("networkx is not installed", hint="Run: pip install 'lilbee-core[graph]'")
    import networkx as nx

    graph: Graph[str] = nx.Graph()
    concepts = view.table.concepts
    for one in concepts:
        graph.add_node(one.id, label=one.label, kind=one.kind, chunks=one.chunks, community=one.community)
    for source, target, weight, count in _edges(view, range(len(concepts))):
        graph.add_edge(concepts[source].id, concepts[target].id, weight=weight, count=count)
    return graph


def _chosen(view: GraphView, limit: int | None) -> list[int]:
    """Return the positions of the most frequent concepts, in the order of the graph."""
    concepts = view.table.concepts
    if limit is None or limit >= len(concepts):
        return list(range(len(concepts)))
    ranked = sorted(range(len(concepts)), key=lambda at: (-concepts[at].chunks, concepts[at].id))
    return sorted(ranked[:limit])


def _edges(view: GraphView, places: range | list[int]) -> list[Edge]:
    """Return the edges between these concepts that say more than chance, by positions in the graph."""
    wanted = set(places)
    table = view.table
    columns = (table.sources.tolist(), table.targets.tolist(), view.weights.tolist(), table.counts.tolist())
    return [
        (source, target, weight, count)
        for source, target, weight, count in zip(*columns, strict=True)
        if weight > 0 and source in wanted and target in wanted
    ]


def _json(view: GraphView, places: list[int]) -> str:
    table = view.table
    ids = [one.id for one in table.concepts]
    kept = {ids[at] for at in places}
    value = {
        "chunks": table.chunks,
        "concepts": [table.concepts[at].to_dict() for at in places],
        "relations": [
            {"source": ids[source], "target": ids[target], "weight": round(weight, 6), "count": count}
            for source, target, weight, count in _edges(view, places)
        ],
        "communities": [_within(one, kept) for one in table.communities if kept.intersection(one.concepts)],
    }
    return json.dumps(value, ensure_ascii=False, indent=1)


def _within(community: Community, kept: set[str]) -> dict[str, object]:
    return {**community.to_dict(), "concepts": [id_ for id_ in community.concepts if id_ in kept]}


def _graphml(view: GraphView, places: list[int]) -> str:
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
        *(f'  <key id="{name}" for="{of}" attr.name="{name}" attr.type="{kind}"/>' for name, of, kind in _KEYS),
        '  <graph edgedefault="undirected">',
    ]
    concepts = view.table.concepts
    lines += [f"    <node id={quoteattr(_clean(concepts[at].id))}>{_node_data(concepts[at])}</node>" for at in places]
    for source, target, weight, count in _edges(view, places):
        ends = f"source={quoteattr(_clean(concepts[source].id))} target={quoteattr(_clean(concepts[target].id))}"
        data = f'<data key="weight">{weight:.6f}</data><data key="count">{count}</data>'
        lines.append(f"    <edge {ends}>{data}</edge>")
    return "\n".join([*lines, "  </graph>", "</graphml>", ""])


def _node_data(concept: Concept) -> str:
    values: dict[str, object] = {"label": concept.label, "kind": concept.kind, "chunks": concept.chunks}
    if concept.community is not None:
        values["community"] = concept.community
    if concept.aliases:
        values["aliases"] = "; ".join(concept.aliases)
    return "".join(f'<data key="{name}">{xml(_clean(str(value)))}</data>' for name, value in values.items())


def _clean(text: str) -> str:
    """Leave out the characters that no XML may hold."""
    return _NO_XML.sub("", text)


def _html(view: GraphView, places: list[int]) -> str:
    """Return a page that draws the graph by itself: no other file, no address of the web."""
    concepts = view.table.concepts
    numbers = {at: number for number, at in enumerate(places)}
    labels = {one.id: one.label for one in view.table.communities}
    nodes = [
        {
            "label": one.label,
            "kind": one.kind,
            "chunks": one.chunks,
            "group": -1 if one.community is None else one.community,
            "topic": labels.get(one.community, "") if one.community is not None else "",
            "aliases": list(one.aliases),
        }
        for one in (concepts[at] for at in places)
    ]
    edges = [
        [numbers[source], numbers[target], round(weight, 3), count]
        for source, target, weight, count in _strongest(view, _edges(view, places))
    ]
    left_out = len(concepts) - len(places)
    page = files("lilbee_core.concepts").joinpath("page.html").read_text(encoding="utf-8")
    # `<` inside of strings would let a concept end the script.
    data = json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=True).replace("<", "\\u003c")
    said = f"{len(nodes)} concepts" + (f" of {len(concepts)}, the most frequent ones" if left_out else "")
    return page.replace("{{said}}", escape(said)).replace("{{data}}", data)


def _strongest(view: GraphView, edges: list[Edge]) -> list[Edge]:
    """Return the strongest edges of each concept."""
    held = [one.chunks for one in view.table.concepts]
    ranked = sorted(
        edges,
        key=lambda one: (-one[2] * one[3] / (one[3] + 1) * min(held[one[0]], held[one[1]]), one[0], one[1]),
    )
    degree: dict[int, int] = {}
    kept: list[Edge] = []
    for edge in ranked:
        if min(degree.get(edge[0], 0), degree.get(edge[1], 0)) < _LINES:
            kept.append(edge)
            for end in edge[:2]:
                degree[end] = degree.get(end, 0) + 1
    return kept
