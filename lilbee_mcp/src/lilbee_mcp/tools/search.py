"""Search for agents: short, bounded, with places to cite."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from lilbee_core import Hit, Lilbee
from lilbee_mcp.failures import told

MOST_HITS = 50
HIT_CHARS = 1_500
_FIELDS = ("path", "collection", "line_start", "line_end", "page_start", "page_end", "heading", "symbol", "stale")


def register(server: MCPServer, library: Lilbee) -> None:
    """Add the tool."""

    @server.tool(annotations=ToolAnnotations(title="Search", read_only_hint=True, open_world_hint=False))
    def search(query: str, top_k: int = 8, explain: str | None = None) -> dict[str, Any]:
        """Find passages in the user's documents by words and meaning. Filters in the query: path: type: after:.

        With the path of a document as `explain` also say why it is, or is not, among the hits.
        """
        top_k = min(top_k, MOST_HITS)
        with told():
            result = library.search(query, top_k=top_k)
            trace = library.explain_document(explain, query, top_k=top_k).to_dict() if explain else None
        answer = {
            "found": result.found,
            "hits": [_short(hit) for hit in result.hits],
            "warnings": list(result.warnings),
        }
        return answer if trace is None else {**answer, "explained": trace}


def _short(hit: Hit) -> dict[str, Any]:
    whole = hit.to_dict()
    kept = {name: whole[name] for name in _FIELDS if whole[name] not in (None, False)}
    text = hit.text if len(hit.text) <= HIT_CHARS else hit.text[:HIT_CHARS] + " […]"
    return {**kept, "score": round(hit.score, 4), "text": text}
