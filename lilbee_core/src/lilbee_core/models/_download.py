"""Fetching a file: in pieces that survive a stop, checked before it gets its name."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from lilbee_core.errors import HubError
from lilbee_core.models._hub import Hub, HubModel, wait_s
from lilbee_core.types import ModelFile

if TYPE_CHECKING:
    import httpx

    from lilbee_core.protocols import CancelToken

_MARGIN = 64 << 20
_TRIES = 5
_BUSY = frozenset({408, 429, 500, 502, 503, 504})

OnBytes = Callable[[int], None]
"""Called with all bytes that are here by now."""


class Download:
    """Fetches one file of the hub to a path.

    What was fetched lies beside it as ``….part`` and is continued, by the next try or the next process, as long as the
    hub still offers the same content.
    """

    def __init__(self, hub: Hub, model: HubModel, file: ModelFile, target: Path) -> None:
        self._hub = hub
        self._model = model
        self._file = file
        self._target = target
        self._part = target.with_name(f"{target.name}.part")
        self._note = target.with_name(f"{target.name}.part.json")

    def run(self, *, cancel: CancelToken | None = None, on_bytes: OnBytes | None = None) -> Path:
        """Fetch the file, unless it is there already.

        Raises:
            HubError: If it cannot be had, or is not what the hub says it is.
            Cancelled: If it was cancelled; what was fetched is kept.
        """
        if self._target.is_file() and self._target.stat().st_size == (self._file.size_bytes or -1):
            return self._target
        from filelock import FileLock, Timeout

        lock = Path(f"{self._part}.lock")
        try:
            self._target.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(lock, timeout=0):
                try:
                    self._fetch(cancel, on_bytes or _nobody)
                    self._finish()
                finally:
                    # While it is still held; where the system does not allow that, it stays.
                    with suppress(OSError):
                        lock.unlink()
        except Timeout as error:
            raise HubError(
                f"another process fetches {self._file.name} already", hint="Wait for it, then try again."
            ) from error
        except OSError as error:
            raise HubError(
                f"{self._target} cannot be written: {error.strerror or error}",
                hint="Check the folder's permissions and the space on the disk, or set models_dir to another folder.",
                code="provider.disk_full" if error.errno == 28 else "provider.hub",
            ) from error
        return self._target

    # ------------------------------------------------------------------ fetching

    def _fetch(self, cancel: CancelToken | None, on_bytes: OnBytes) -> None:
        import httpx

        failures = 0
        while True:
            before = self._here()
            self._check_space(before)
            try:
                if self._request(before, cancel, on_bytes):
                    return
                reason: Exception | None = None
            except httpx.TransportError as error:
                reason = error
            # Only tries that bring nothing count: a line that drops every minute still gets there.
            failures = 1 if self._here() > before else failures + 1
            if failures >= _TRIES:
                raise self._hub.unreachable(reason)
            if cancel is not None:
                cancel.check()
            self._hub.clock.sleep(wait_s(failures - 1))

    def _request(self, start: int, cancel: CancelToken | None, on_bytes: OnBytes) -> bool:
        """Ask for what is missing; return whether all of it came."""
        note = self._noted()
        headers = {}
        if start:
            headers = {"Range": f"bytes={start}-", "If-Range": str(note["etag"])}
        with self._hub.client().stream("GET", self._hub.address(self._model, self._file), headers=headers) as response:
            if response.status_code in _BUSY:
                return False
            if response.status_code == 416:
                self._forget()
                return False
            self._hub.check(response.status_code, self._model.repo)
            self._refuse_pages(response)
            if response.status_code != 206 or _start(response) != start:
                start = 0
            self._remember(response)
            return self._write(response, start, cancel, on_bytes)

    def _write(self, response: httpx.Response, start: int, cancel: CancelToken | None, on_bytes: OnBytes) -> bool:
        done = start
        with self._part.open("r+b" if start else "wb") as out:
            out.seek(start)
            out.truncate()
            for piece in response.iter_raw():
                out.write(piece)
                done += len(piece)
                on_bytes(done)
                if cancel is not None:
                    cancel.check()
        return done >= self._size(response, start)

    def _size(self, response: httpx.Response, start: int) -> int:
        told = int(response.headers.get("Content-Length", "0") or 0)
        return self._file.size_bytes or start + told

    def _refuse_pages(self, response: httpx.Response) -> None:
        if response.headers.get("Content-Type", "").startswith("text/html"):
            raise HubError(
                f"{self._hub.url} answers with a page instead of {self._file.name}",
                hint="Check hub_url, and whether a network asks you to sign in first.",
            )

    # ------------------------------------------------------------------ what is here

    def _here(self) -> int:
        """Return how much of the file can be built upon."""
        note = self._noted()
        same = note.get("sha256") == self._file.sha256 and note.get("size") == self._file.size_bytes
        if not same or not note.get("etag"):
            return 0
        size = self._part.stat().st_size if self._part.is_file() else 0
        return size if not self._file.size_bytes or size <= self._file.size_bytes else 0

    def _noted(self) -> Mapping[str, Any]:
        try:
            found: object = json.loads(self._note.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return cast("Mapping[str, Any]", found) if isinstance(found, dict) else {}

    def _remember(self, response: httpx.Response) -> None:
        etag = response.headers.get("ETag", "")
        # A weak tag promises the same meaning, not the same bytes.
        kept = {
            "etag": "" if etag.startswith("W/") else etag,
            "sha256": self._file.sha256,
            "size": self._file.size_bytes,
        }
        self._note.write_text(json.dumps(kept), "utf-8")

    def _forget(self) -> None:
        self._part.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def _check_space(self, here: int) -> None:
        missing = max(0, self._file.size_bytes - here)
        free = shutil.disk_usage(self._target.parent).free
        if missing + _MARGIN > free:
            raise HubError(
                f"{self._file.name} needs {missing / 1e9:.1f} GB more, and {free / 1e9:.1f} GB are free in "
                f"{self._target.parent}",
                hint="Make room, remove a model (`lilbee model rm REF`), or set models_dir to a folder elsewhere.",
                code="provider.disk_full",
            )

    def _finish(self) -> None:
        size = self._part.stat().st_size
        whole = size == self._file.size_bytes or not self._file.size_bytes
        if not whole or (self._file.sha256 and _digest(self._part) != self._file.sha256):
            self._forget()
            raise HubError(
                f"{self._file.name} arrived damaged: it is not what {self._hub.url} says it is",
                hint="Fetch it again; if that happens twice, something between you and the hub changes it.",
                code="provider.checksum",
            )
        self._part.replace(self._target)
        self._note.unlink(missing_ok=True)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _start(response: httpx.Response) -> int:
    """Return where the piece begins that a server sends."""
    said = response.headers.get("Content-Range", "").removeprefix("bytes ").partition("-")[0]
    return int(said) if said.isdigit() else -1


def _nobody(done: int) -> None:
    """Take a number and do nothing."""
