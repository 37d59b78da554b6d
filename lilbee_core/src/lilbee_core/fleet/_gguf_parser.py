"""Footprints by the program gguf-parser, where it is installed. Each file and size is asked for once."""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lilbee_core.errors import FleetError
from lilbee_core.fleet._footprint import Estimator, GgufEstimator, kv_bytes, projector_bytes
from lilbee_core.fleet._sizing import READING, RoleModel, Sizing
from lilbee_core.types import ModelFootprint

log = logging.getLogger(__name__)

PROGRAM = "gguf-parser"
_LIMIT_S = 60.0

Run = Callable[[Sequence[str]], str]
"""Runs a command and returns what it printed. Raises OSError or ValueError if it fails."""


def run_program(command: Sequence[str]) -> str:
    """Run gguf-parser.

    Raises:
        OSError: If it cannot be started, takes too long or fails.
    """
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"{command[0]} took more than {_LIMIT_S:.0f} s") from error
    if done.returncode:
        raise OSError(f"{command[0]} failed ({done.returncode}): {done.stderr.strip()[-300:]}")
    return done.stdout


def find_estimator(setting: str = "") -> Estimator:
    """Return what estimates memory: gguf-parser where it is named or on PATH, else our own estimate.

    Raises:
        FleetError: If the setting names a program that is not there.
    """
    program = shutil.which(setting.strip() or PROGRAM)
    if setting.strip() and program is None:
        raise FleetError(
            f"there is no program {setting.strip()!r}",
            hint="Set gguf_parser_path to gguf-parser, or leave it out: lilbee estimates memory by itself.",
        )
    return ParserEstimator(program, GgufEstimator()) if program else GgufEstimator()


class ParserEstimator:
    """Asks gguf-parser, and falls back to our own estimate for a file that it cannot read. Threads may share it.

    Its figure for a card with a projector is not believed: it counts some 10 GiB of buffers that no projector has. So
    the projector is charged what it adds to the figure for shared memory, and its own weights at least.
    """

    def __init__(self, program: str, fallback: Estimator, *, run: Run = run_program) -> None:
        self._program = program
        self._fallback = fallback
        self._run = run
        self._known: dict[tuple[object, ...], ModelFootprint] = {}
        self._unreadable: set[tuple[object, ...]] = set()
        self._lock = threading.Lock()

    def footprint(self, model: RoleModel, sizing: Sizing) -> ModelFootprint:
        file = (model.role, *_mark(model))
        key = (*file, sizing)
        with self._lock:
            found = self._known.get(key)
            if found is not None:
                return found
            if file not in self._unreadable:
                try:
                    found = self._known[key] = self._ask(model, sizing)
                    return found
                except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
                    log.warning("%s cannot estimate %s: %s", self._program, model.facts.path.name, error)
                    self._unreadable.add(file)
        return self._fallback.footprint(model, sizing)

    def _ask(self, model: RoleModel, sizing: Sizing) -> ModelFootprint:
        ram, cards = self._figures(model, sizing, eyes=False)
        unified = ram[0] + sum(card[0] for card in cards)
        shares = [card[1] for card in cards]
        projector = 0
        if model.projector is not None:
            seeing, seeing_cards = self._figures(model, sizing, eyes=True)
            added = seeing[0] + sum(card[0] for card in seeing_cards) - unified
            projector = max(added, model.projector.weights_bytes)
            shares[0] += projector
        kv = sum(kv_bytes(model.facts, sizing, layer) for layer in range(model.facts.layers))
        ours = self._fallback.footprint(model, sizing)
        return ModelFootprint(
            weights_bytes=model.facts.weights_bytes,
            kv_bytes=kv,
            compute_bytes=ours.compute_bytes,
            projector_bytes=projector or projector_bytes(model.projector),
            kv_bytes_per_token=ours.kv_bytes_per_token,
            discrete_bytes=sum(shares),
            unified_bytes=unified + projector,
            shares=tuple(shares) if sizing.layer_split else (),
            source=PROGRAM,
        )

    def _figures(
        self, model: RoleModel, sizing: Sizing, *, eyes: bool
    ) -> tuple[tuple[int, int], list[tuple[int, int]]]:
        """Return bytes in shared memory and beside a card: of the system's memory, and of each card's."""
        found: object = json.loads(self._run(self._command(model, sizing, eyes=eyes)))
        item: Mapping[str, Any] = cast("Any", found)["estimate"]["items"][0]
        cards = [_pair(card) for card in item.get("vrams") or ()]
        if len(cards) != max(1, len(sizing.layer_split)):
            raise ValueError(f"it speaks of {len(cards)} cards")
        return _pair(item["ram"]), cards

    def _command(self, model: RoleModel, sizing: Sizing, *, eyes: bool) -> list[str]:
        command = [
            self._program,
            "--path", str(model.facts.path),
            "--json", "--skip-metadata", "--skip-architecture", "--skip-tokenizer",
            "--ctx-size", str(sizing.context_tokens * sizing.slots),
            "--parallel-size", str(sizing.slots),
            "--batch-size", str(sizing.batch_tokens),
            "--ubatch-size", str(sizing.ubatch_tokens),
            "--cache-type-k", sizing.kv_cache_type,
            "--cache-type-v", sizing.kv_cache_type,
            "--gpu-layers", str(sizing.gpu_layers),
        ]  # fmt: skip
        if sizing.flash_attention and model.role not in READING:
            command.append("--flash-attention")
        if sizing.layer_split:
            command += ["--tensor-split", ",".join(str(count) for count in sizing.layer_split)]
        if eyes and model.projector is not None:
            command += ["--mmproj-path", str(model.projector.path)]
        return command


def _pair(memory: Mapping[str, Any]) -> tuple[int, int]:
    return int(memory["uma"]), int(memory["nonuma"])


def _mark(model: RoleModel) -> tuple[object, ...]:
    """Name the files of a model as they are now."""
    paths = [model.facts.path, *([model.projector.path] if model.projector else ())]
    return tuple((path, path.stat().st_mtime_ns if path.exists() else 0) for path in paths)
