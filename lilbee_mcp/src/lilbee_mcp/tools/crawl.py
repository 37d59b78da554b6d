"""Pages of the web, for agents that were allowed to fetch them."""

from __future__ import annotations

from typing import Any

from mcp.server import MCPServer
from mcp.types import ToolAnnotations

from lilbee_core import Lilbee
from lilbee_mcp.failures import told

MOST_PAGES = 200


def register(server: MCPServer, library: Lilbee) -> None:
    """Add the tools."""

    @server.tool(annotations=ToolAnnotations(title="Crawl", read_only_hint=False, open_world_hint=True))
    def crawl(url: str, depth: int = 0, pages: int = 20) -> dict[str, Any]:
        """Fetch a page of the web, and with `depth` those that it links to on its site, and index them.

        Returns a job at once; ask `crawl_status` with its id. Addresses inside the user's network are refused.
        """
        with told():
            job = library.jobs.start("crawl", urls=[url], depth=max(0, depth), pages=max(1, min(pages, MOST_PAGES)))
        return _short(job.to_dict())

    @server.tool(annotations=ToolAnnotations(title="Crawl status", read_only_hint=True, open_world_hint=False))
    def crawl_status(job: str, wait_s: float = 0.0) -> dict[str, Any]:
        """Say how far a crawl is, and what came of it once it is over; waits for that at most `wait_s`, up to 30."""
        with told():
            record = library.jobs.require(job).wait(max(0.0, min(wait_s, 30.0)))
        return _short(record.to_dict())


def _short(record: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = record["result"] or {}
    problems: list[dict[str, Any]] = result.get("failed", [])
    counts: dict[str, Any] = {name: result[name] for name in ("pages", "new", "updated", "unchanged") if name in result}
    failed = [{"url": one["url"], "reason": one["reason"]} for one in problems[:10]]
    shown: dict[str, Any] = {"job": record["id"], "state": record["state"], "progress": record["progress"], **counts}
    if failed:
        shown["failed"] = failed
    if record["error"]:
        shown["error"] = record["error"]
    return shown
