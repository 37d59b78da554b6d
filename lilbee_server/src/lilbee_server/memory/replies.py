"""What is found, in the form of a memory server: absolute paths, lines, what stands on them, and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lilbee_core import Hit, SearchResult

_MOST_BYTES = 4_000_000
_MOST_CHARS = 20_000


def reply(
    result: SearchResult, query: str, folders: Mapping[str, Path], warnings: Sequence[str], total_s: float
) -> dict[str, Any]:
    """Return the answer of `POST /search`; `warnings` stand in it where there are any."""
    told: dict[str, Any] = {
        "results": [_hit(hit, folders) for hit in result.hits],
        "query": query,
        "timings": _timings(result, total_s),
    }
    return {**told, "warnings": list(warnings)} if warnings else told


def _hit(hit: Hit, folders: Mapping[str, Path]) -> dict[str, Any]:
    file = folders[hit.collection] / hit.path if hit.collection in folders else Path(hit.path)
    start, end = hit.line_start, hit.line_end
    place = f"{start}-{end}" if start is not None else str(hit.chunk.location)
    return {
        "path": str(file),
        "startLine": start,
        "endLine": end,
        "score": hit.score,
        "snippet": _lines(file, hit),
        "source": hit.collection,
        "citation": f"{file}:{place}",
    }


def _lines(file: Path, hit: Hit) -> str:
    """Return the whole lines on which the passage stands, as the file has them; the passage alone where it differs."""
    start, end = hit.line_start, hit.line_end
    if start is None or end is None or hit.stale:
        return hit.text
    try:
        if file.stat().st_size > _MOST_BYTES:
            return hit.text
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, ValueError):
        return hit.text
    lines = "\n".join(text.split("\n")[start - 1 : end])
    return lines if hit.text in lines and len(lines) <= _MOST_CHARS else hit.text


def _timings(result: SearchResult, total_s: float) -> dict[str, float]:
    spent = result.timings_ms
    return {
        "totalMs": round(total_s * 1000, 2),
        "bm25Ms": round(spent.get("lexical", 0.0), 2),
        "vectorMs": round(spent.get("dense", 0.0), 2),
        "rerankMs": round(spent.get("rerank", 0.0), 2),
    }
