"""Answers: quoted sentences without a chat model, checked and cited replies with one."""

from lilbee_core.answer._extractive import ExtractiveAnswerer
from lilbee_core.answer._generated import GeneratedAnswerer, nearness
from lilbee_core.answer._not_found import NOT_FOUND

__all__ = ["NOT_FOUND", "ExtractiveAnswerer", "GeneratedAnswerer", "nearness"]
