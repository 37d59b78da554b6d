"""The embedding server of a run, and the rival."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import psutil

from tests.bench._measure import CommandFailed, TreeWatch
from tests.bench._world import ROOT, TOOLS

Record = dict[str, Any]
MODEL = "bench-words"


@dataclass(frozen=True, slots=True)
class EmbedServer:
    """A server of hashed words that runs."""

    url: str

    @property
    def settings(self) -> dict[str, str]:
        """The variables by which lilbee uses it. Its window is wide: chunks have their full size."""
        return {
            "LILBEE_EMBEDDING_MODEL": f"openai/{MODEL}",
            "LILBEE_EMBEDDING_MAX_TOKENS": "8192",
            "LILBEE_OPENAI_BASE_URL": self.url,
        }

    def reset(self) -> None:
        """Forget what was asked."""
        self._ask("/reset", b"{}")

    def stats(self) -> Record:
        """Return what was asked since the last reset."""
        return self._ask("/stats", None)

    def _ask(self, route: str, body: bytes | None) -> Record:
        address = self.url.removesuffix("/v1") + route
        with urllib.request.urlopen(address, body, timeout=30) as answer:
            return cast("Record", json.load(answer))


@contextmanager
def embed_server(env: Mapping[str, str]) -> Iterator[EmbedServer]:
    """Start the server, and end it in the end."""
    command = [sys.executable, str(TOOLS / "embed_server.py"), "--port", "0", "--fake", "--name", MODEL]
    with subprocess.Popen(command, env=dict(env), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            words = process.stdout.readline().split()
            if words[:1] != ["ready"]:
                raise CommandFailed("the embedding server does not start")
            yield EmbedServer(words[1])
        finally:
            process.terminate()


def measure_rival(
    venv: Path, corpus: Path, server: EmbedServer, env: Mapping[str, str], *, quick: bool
) -> dict[str, Record]:
    """Let the rival index the corpus and search it; return what its script says, by kind.

    A search is told by its mode too, as in ``search hybrid``. Each record has `tree_mb`, the most that the rival's
    processes held since the record before.
    """
    command = ["bash", str(TOOLS / "peer_lilbee.sh"), str(corpus), server.url]
    wanted = {"LILBEE_VENV": str(venv), "REPEAT": "1" if quick else "3", "CLI_RUNS": "2" if quick else "3"}
    records: dict[str, Record] = {}
    process = subprocess.Popen(
        command, env={**env, **wanted}, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process, TreeWatch(process.pid, every_s=0.1, without=_is_driver) as watch:
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            record = cast("Record", json.loads(line))
            name = f"{record['kind']} {record.get('mode', '')}".strip()
            records[name] = {**record, "tree_mb": watch.take_peak_mb()}
        said = process.stderr.read()
    if process.returncode or "memory" not in records:
        raise CommandFailed(f"the rival failed: {said[-2000:]} {json.dumps(records.get('ingest', {}))}")
    return records


def _is_driver(process: psutil.Process) -> bool:
    """Say whether a process only drives the rival: the shell, or the script that it reads from its input."""
    command = process.cmdline()
    return "bash" in command[0] or command[1:2] == ["-"] if command else True
