"""A process that syncs a library, for tests that kill it or take rights away from it."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
TURNS = 3
_PR_CAPBSET_DROP = 24
_FILE_RIGHTS = (1, 2, 3)
"""What lets the superuser pass over the modes of files: override, search, owner."""

_CODE = """
import json, sys
from pathlib import Path
from tests.core.ingest._process import work
print(json.dumps(work(*sys.argv[1:])), flush=True)
"""


def work(verb: str, folder: str, data: str, word: str = "heron") -> dict[str, object]:
    """Sync and search; return what came of it."""
    from lilbee_core.errors import LilbeeError
    from tests.core.ingest.conftest import a_library

    told: dict[str, object] = {}
    if verb.startswith("worker"):
        return write_and_remove(Path(folder), Path(data), verb)
    with a_library(Path(folder), Path(data), batch_documents=4) as bee:
        for name, do in (("search", lambda: len(bee.search(word).hits)), ("sync", lambda: bee.sync().to_dict())):
            if name in verb:
                try:
                    told[name] = do()
                except LilbeeError as error:
                    told[name] = error.to_dict()
    return told


def write_and_remove(folder: Path, data: Path, worker: str) -> dict[str, object]:
    """Add documents and take some away again, with syncs and upkeep between, as others do at the same time."""
    from lilbee_core.types import Document
    from tests.core.ingest.conftest import a_library

    with a_library(folder, data, lock_timeout_s=240.0) as bee:
        for turn in range(TURNS):
            names = [f"{worker}-{turn}-{part}" for part in range(3)]
            shared = Document(path="shared", text=f"{worker} turn {turn} " * 40, collection="memory")
            own = [Document(path=name, text=f"heron of {name}", collection="memory") for name in names]
            bee.add_documents([*own, shared])
            bee.remove(f"memory/{names[0]}")
            if turn % 2:
                bee.sync()
                bee.optimize()
    return {"done": worker}


def start(
    verb: str, folder: Path, data: Path, *, bound: bool = False, max_file_bytes: int = 0
) -> subprocess.Popen[str]:
    """Start the work above; `bound` by the modes of files like any user, able to write only so many bytes to a file."""

    def prepare() -> None:
        if bound and os.geteuid() == 0:
            for right in _FILE_RIGHTS:
                ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, right)
        if max_file_bytes:
            resource.setrlimit(resource.RLIMIT_FSIZE, (max_file_bytes, max_file_bytes))

    return subprocess.Popen(
        [sys.executable, "-c", _CODE, verb, str(folder), str(data)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,  # noqa: PLW1509 - two system calls, no lock that a thread could hold
    )


def outcome(process: subprocess.Popen[str]) -> dict[str, Any]:
    """Wait for what came of it."""
    out, err = process.communicate(timeout=240)
    assert process.returncode == 0, err
    told: dict[str, Any] = json.loads(out.splitlines()[-1])
    return told
