"""What bodies of requests have in common."""

from __future__ import annotations

import msgspec


class Body(msgspec.Struct, forbid_unknown_fields=True):
    """What a request says. A field that is not known is refused: misspelled, it would be left out unnoticed."""
