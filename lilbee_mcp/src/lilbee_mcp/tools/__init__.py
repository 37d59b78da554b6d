"""One module per noun."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lilbee_mcp.offers import Offer
from lilbee_mcp.tools import documents, search, status


def offers_of(groups: Iterable[str]) -> Sequence[Offer[Any]]:
    """Return the tools that every client has, and those of the groups. A group is loaded only where it is wanted."""
    found: list[Offer[Any]] = [
        search.search,
        search.ask,
        documents.read,
        documents.list_documents,
        status.status,
        documents.add,
        documents.sync,
        documents.remove,
        status.job_status,
    ]
    for group in groups:
        found += _group(group)
    return found


def _group(name: str) -> Sequence[Offer[Any]]:
    from lilbee_mcp.tools import crawl, library, models, placement, wiki

    offers: dict[str, Sequence[Offer[Any]]] = {
        "crawl": crawl.OFFERS,
        "init": (library.init,),
        "model": models.OFFERS,
        "placement": placement.OFFERS,
        "reset": (library.reset,),
        "wiki": wiki.OFFERS,
    }
    return offers[name]
