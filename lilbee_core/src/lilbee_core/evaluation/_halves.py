"""Which queries a choice may be fitted on, and which only judge it."""

from __future__ import annotations

import hashlib


def is_held_out(query_id: str) -> bool:
    """Say whether a query belongs to the half that nothing is fitted on; a hash of its id decides, for good."""
    return hashlib.md5(query_id.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()[-1] % 2 == 1
