"""Model files: what they say of themselves, which are here, and how to get more. No inference."""

from lilbee_core.models._facts import read_facts

__all__ = ["read_facts"]
