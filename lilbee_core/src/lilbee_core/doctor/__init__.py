"""Checks of an installation and an index, each with its fix."""

from lilbee_core.doctor._checks import Check, Doctor

__all__ = ["Check", "Doctor"]
