"""The command line of a server: what the plan decided, in the flags that the engine knows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import FleetError
from lilbee_core.fleet._engine import Engine
from lilbee_core.types import PlacedServer

CHAT, EMBED, RERANK, VISION = "chat", "embed", "rerank", "vision"

_CHAT_CACHE_MIB = 1024
"""Old conversations that a chat server keeps in the system's memory: the engine's own default is 8 GiB, which no plan
counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wiring:
    """What a server needs besides the plan. `idle_sleep_s` lets it unload its model by itself."""

    key_file: Path
    host: str = "127.0.0.1"
    port: int = 0
    threads: int | None = None
    idle_sleep_s: int | None = None


def server_command(engine: Engine, server: PlacedServer, wiring: Wiring) -> tuple[str, ...]:
    """Return the command that starts a server.

    Raises:
        FleetError: If the engine lacks a flag that the server cannot do without.
    """
    flags = _Flags(engine, server.role)
    flags.need("--model", str(server.model_file))
    flags.need("--host", wiring.host)
    flags.need("--port", str(wiring.port))
    flags.need("--api-key-file", str(wiring.key_file))
    flags.some("--alias", server.model.replace(",", "_"))
    flags.need("--ctx-size", str(server.context_tokens * server.slots))
    flags.need("--parallel", str(server.slots))
    flags.need("--batch-size", str(server.batch_tokens))
    flags.need("--ubatch-size", str(server.ubatch_tokens))
    flags.need("--n-gpu-layers", str(server.gpu_layers))
    _add_cards(flags, server)
    _add_role(flags, server)
    threads = wiring.threads or server.threads
    if threads:
        flags.need("--threads", str(threads))
    if not server.mmap:
        flags.either(("--load-mode", "none"), ("--no-mmap",))
    if wiring.idle_sleep_s:
        flags.some("--sleep-idle-seconds", str(wiring.idle_sleep_s))
    # The plan has fitted it to the machine already; nothing is shown, and nothing is fetched.
    flags.some("--fit", "off")
    flags.either(("--no-ui",), ("--no-webui",))
    flags.some("--offline")
    return (*engine.command, *flags.words)


def _add_cards(flags: _Flags, server: PlacedServer) -> None:
    if server.gpu_layers == 0 and not server.devices:
        flags.some("--device", "none")
    if server.devices:
        # A program that knows several backends would use the same card, or a hidden one, by another of them.
        flags.some("--device", ",".join(server.visible_devices))
    if len(server.devices) > 1:
        flags.need("--split-mode", "layer")
        shares = server.tensor_split or (1.0,) * len(server.devices)
        flags.need("--tensor-split", ",".join(f"{share:g}" for share in shares))


def _add_role(flags: _Flags, server: PlacedServer) -> None:
    if server.role in (EMBED, RERANK):
        flags.either(("--embedding",), ("--embeddings",))
        if server.role == RERANK:
            flags.either(("--reranking",), ("--rerank",))
            flags.need("--pooling", "rank")
        elif server.pooling:
            flags.need("--pooling", server.pooling)
        flags.some("--cache-ram", "0")
        return
    flags.need("--jinja")
    flags.some("--flash-attn", "on" if server.flash_attention else "off")
    if server.role == VISION:
        if server.projector_file is not None:
            flags.need("--mmproj", str(server.projector_file))
        flags.some("--cache-ram", "0")
        return
    flags.some("--cache-type-k", server.kv_cache_type)
    flags.some("--cache-type-v", server.kv_cache_type)
    flags.some("--cache-ram", str(_CHAT_CACHE_MIB))


class _Flags:
    """Collects the flags of one command."""

    def __init__(self, engine: Engine, role: str) -> None:
        self._engine = engine
        self._role = role
        self._words: list[str] = []

    @property
    def words(self) -> Iterator[str]:
        return iter(self._words)

    def need(self, *words: str) -> None:
        """Add a flag that must be there."""
        self.either(words)

    def some(self, *words: str) -> None:
        """Add a flag if the engine knows it."""
        if self._engine.has(words[0]):
            self._words += words

    def either(self, *choices: tuple[str, ...]) -> None:
        """Add the first that the engine knows."""
        known = next((words for words in choices if self._engine.has(words[0])), None)
        if known is None:
            raise FleetError(
                f"{self._engine.file} ({self._engine.version}) has no {choices[0][0]}, which the {self._role} model "
                "needs",
                hint="Update llama.cpp, or run `pip install -U 'lilbee-core[engine]'` and leave llama_server_path out.",
                code="fleet.engine_too_old",
            )
        self._words += known
