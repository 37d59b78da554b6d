"""What is remembered of the work: notes, facts and skills, each revision with its author."""

from lilbee_core.notes._shelf import FACT, NOTE, SKILL, Kind, Shelf

__all__ = ["FACT", "NOTE", "SKILL", "Kind", "Shelf"]
