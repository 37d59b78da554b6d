"""What runs, on disk: one small file per owner and group, so that any later process can find, adopt or end it."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import re
import tempfile
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

from lilbee_core.types import Device, MachineSnapshot

log = logging.getLogger(__name__)

FORMAT = 1
_SUFFIX = ".fleet.json"
_SAME_START_S = 1.0
_LOCK_S = 60.0


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """A process. Its id may be given to another one later, so the time of its start is kept too."""

    pid: int
    started: float | None = None

    @classmethod
    def of(cls, pid: int) -> ProcessMark:
        """Return the mark of a process that runs now."""
        import psutil

        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.Error:
            return cls(pid)

    @classmethod
    def me(cls) -> ProcessMark:
        """Return the mark of this process."""
        return cls.of(os.getpid())

    @property
    def is_alive(self) -> bool:
        """Whether this very process still runs. One without a time of start is nobody."""
        import psutil

        if self.started is None:
            return False
        try:
            process = psutil.Process(self.pid)
            same = abs(process.create_time() - self.started) < _SAME_START_S
            return same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.AccessDenied:
            return True
        except psutil.Error:
            return False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """A server as a state file holds it. `signature` is its command without what differs from start to start."""

    id: str
    role: str
    model: str
    signature: tuple[str, ...] = ()
    process: ProcessMark | None = None
    port: int | None = None
    api_key: str = field(default="", repr=False)
    key_file: str = ""
    log_file: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupRecord:
    """A group of servers, who started them, and whether they were left running on purpose."""

    group: str
    owner: ProcessMark
    servers: tuple[ServerRecord, ...] = ()
    detached: bool = False
    version: str = ""
    engine: str = ""
    machine: MachineSnapshot | None = None
    host: str = field(default_factory=platform.node)
    path: Path | None = None

    def content(self) -> dict[str, object]:
        """Return what the file holds."""
        return {
            "format": FORMAT,
            "group": self.group,
            "owner": _mark_out(self.owner),
            "detached": self.detached,
            "version": self.version,
            "engine": self.engine,
            "host": self.host,
            "machine": None if self.machine is None else self.machine.to_dict(),
            "servers": [_server_out(one) for one in self.servers],
        }


class StateFolder:
    """The folder of the state files. Several processes share it; each writes and removes only its own files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path_of(self, group: str, owner: ProcessMark) -> Path:
        """Return where a group of an owner is recorded."""
        return self.folder / f"{file_stem(group, owner)}{_SUFFIX}"

    def write(self, record: GroupRecord) -> None:
        """Record a group, at once or not at all: a scan never reads half a file.

        Raises:
            OSError: If the folder cannot be written.
        """
        self.prepare()
        path = record.path or self.path_of(record.group, record.owner)
        # mkstemp makes files that nobody else can read: a record holds the keys of its servers.
        handle, fresh = tempfile.mkstemp(dir=self.folder, prefix=".", suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(record.content(), file, indent=1)
            Path(fresh).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(fresh).unlink()
            raise

    def remove(self, group: str, owner: ProcessMark) -> None:
        """Forget a group of an owner."""
        with contextlib.suppress(OSError):
            self.path_of(group, owner).unlink()

    @contextmanager
    def alone(self) -> Generator[None]:
        """Reap and adopt by one process at a time, so that two do not adopt the same server."""
        from filelock import FileLock, Timeout

        lock = FileLock(self.folder / "lock", timeout=_LOCK_S)
        try:
            lock.acquire()
        except (Timeout, OSError) as error:
            log.warning("%s cannot be locked: %s", self.folder, error)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):
                lock.release()

    def prepare(self) -> None:
        """Create the folder, for this user alone."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)

    def scan(self) -> Iterator[GroupRecord]:
        """Yield every record of this machine that can be read.

        One that cannot is left where it is: it may be of a newer version. Where several machines share a home, an id
        of another one's process means nothing here.
        """
        try:
            paths = sorted(self.folder.glob(f"*{_SUFFIX}"))
        except OSError:
            return
        for path in paths:
            try:
                record = _group_in(cast("Mapping[str, Any]", json.loads(path.read_text("utf-8"))), path)
                if record.host == platform.node():
                    yield record
            except FileNotFoundError:
                continue
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                log.warning("%s cannot be read and is left alone: %s: %s", path, type(error).__name__, error)


def file_stem(name: str, owner: ProcessMark) -> str:
    """Return what the files of an owner's group or server are called."""
    # Processes of other machines may have the same ids.
    return f"{plain_name(name)}.{owner.pid}.{plain_name(platform.node())}"


def plain_name(text: str) -> str:
    """Return a name that can be that of a file."""
    return re.sub(r"[^\w-]+", "_", text) or "group"


def _mark_out(mark: ProcessMark | None) -> dict[str, object] | None:
    return None if mark is None else {"pid": mark.pid, "started": mark.started}


def _server_out(one: ServerRecord) -> dict[str, object]:
    return {
        "id": one.id,
        "role": one.role,
        "model": one.model,
        "signature": list(one.signature),
        "process": _mark_out(one.process),
        "port": one.port,
        "api_key": one.api_key,
        "key_file": one.key_file,
        "log_file": one.log_file,
    }


def _mark_in(value: Mapping[str, Any] | None) -> ProcessMark | None:
    if value is None:
        return None
    started = value.get("started")
    return ProcessMark(int(value["pid"]), None if started is None else float(started))


def _group_in(value: Mapping[str, Any], path: Path) -> GroupRecord:
    if value.get("format") != FORMAT:
        raise ValueError(f"its format is {value.get('format')!r}")
    owner = _mark_in(value["owner"])
    if owner is None:
        raise ValueError("it names no owner")
    return GroupRecord(
        group=str(value["group"]),
        owner=owner,
        servers=tuple(_server_in(one) for one in cast("Sequence[Mapping[str, Any]]", value["servers"])),
        detached=value["detached"] is True,
        version=str(value.get("version", "")),
        engine=str(value.get("engine", "")),
        machine=_machine_in(value.get("machine")),
        host=str(value.get("host", platform.node())),
        path=path,
    )


def _machine_in(value: Mapping[str, Any] | None) -> MachineSnapshot | None:
    if value is None:
        return None
    cards = [_device_in(one) for one in cast("Sequence[Mapping[str, Any]]", value["devices"])]
    accelerator = cast("Mapping[str, Any] | None", value.get("accelerator"))
    return MachineSnapshot(
        devices=tuple(cards),
        accelerator=None if accelerator is None else _device_in(accelerator),
        total_ram_bytes=int(value["total_ram_bytes"]),
        free_ram_bytes=int(value["free_ram_bytes"]),
        cores=int(value["cores"]),
    )


def _device_in(value: Mapping[str, Any]) -> Device:
    names = [one.name for one in fields(Device)]
    return Device(**{name: value[name] for name in names})


def _server_in(value: Mapping[str, Any]) -> ServerRecord:
    port = value.get("port")
    return ServerRecord(
        id=str(value["id"]),
        role=str(value["role"]),
        model=str(value["model"]),
        signature=tuple(str(word) for word in cast("Sequence[object]", value.get("signature", ()))),
        process=_mark_in(value.get("process")),
        port=None if port is None else int(port),
        api_key=str(value.get("api_key", "")),
        key_file=str(value.get("key_file", "")),
        log_file=str(value.get("log_file", "")),
    )
