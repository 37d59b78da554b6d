"""Why a server did not start or did not stay: its own last lines, and what to do about them."""

from __future__ import annotations

import re

from lilbee_core.errors import FleetError
from lilbee_core.fleet._engine import WRONG_PROCESSOR
from lilbee_core.text import OUTPUT_BELOW

_LINES = 12
_STAMP = re.compile(r"^\d+(?:\.\d+){2,3}\s+[A-Z]\s+")
_NO_MEMORY = re.compile(
    r"out of memory|outofdevicememory|failed to allocate|unable to allocate|cudaMalloc failed|bad_alloc|"
    r"cannot allocate memory|not enough (?:device )?memory|alloc_buffer.*failed|exceeds.{0,20}free memory",
    re.IGNORECASE,
)
_BAD_FILE = re.compile(
    r"invalid magic|failed to open gguf|tensor .{0,80}(?:out of bounds|not within the file)|failed to read|"
    r"unknown model architecture|unsupported model|wrong number of tensors|error loading model",
    re.IGNORECASE,
)
_PROJECTOR = re.compile(r"failed to load (?:clip|multimodal) model", re.IGNORECASE)
_FLAG = re.compile(r"invalid argument|unknown argument|invalid value for", re.IGNORECASE)
_PORT = re.compile(r"couldn't bind|address already in use|bind\(?\)? .{0,20}fail", re.IGNORECASE)
_LIBRARY = re.compile(r"error while loading shared libraries|library not loaded|dll", re.IGNORECASE)

_CAUSES = (
    (
        _NO_MEMORY,
        "fleet.out_of_memory",
        "it ran out of memory",
        "Choose a smaller model or quantization, lower num_ctx, or close what else uses the memory.",
    ),
    (
        _PROJECTOR,
        "fleet.bad_model",
        "the projector does not fit the model, or is damaged",
        "Choose the mmproj file that belongs to the model.",
    ),
    (
        _FLAG,
        "fleet.engine_too_old",
        "it does not take what it was given",
        "Update llama.cpp, or leave llama_server_path out.",
    ),
    (_PORT, "fleet.port_taken", "its port is taken", "Try again: another port is chosen each time."),
    (
        _LIBRARY,
        "fleet.no_engine",
        "a library of the engine is missing",
        "Install it (on Linux often libgomp1), or choose another llama-server.",
    ),
    (
        _BAD_FILE,
        "fleet.bad_model",
        "the model file cannot be used",
        "Fetch it again, or choose another model; a new architecture needs a newer llama.cpp.",
    ),
)


def last_words(log: str, lines: int = _LINES) -> str:
    """Return the end of a log for people: without time stamps, each line once."""
    cleaned = [_STAMP.sub("", line).strip() for line in log.splitlines()]
    return "\n".join(list(dict.fromkeys(line for line in cleaned if line))[-lines:])


_ILLEGAL = (-4, 132, 0xC000001D)


_KILLED = (-9, 137)


def may_pass(code: int, log: str) -> bool:
    """Whether a server that ended before it was ready may fare better at another try: what it said names no reason."""
    if code in _ILLEGAL:
        return False
    stable = next((stable for pattern, stable, _, _ in _CAUSES if pattern.search(log)), None)
    return stable in (None, "fleet.port_taken")


def exited(name: str, code: int, log: str, *, tries: int = 1) -> FleetError:
    """Return the error for a server that ended before it was ready, at each of some tries."""
    said = last_words(log)
    if code in _ILLEGAL:
        return wrong_processor(name, code, log)
    often = f", {tries} times in a row" if tries > 1 else ""
    ended = f"the server {name} ended while it loaded ({_ending(code)}{often})"
    for pattern, stable, why, hint in _CAUSES:
        if pattern.search(log):
            return FleetError(_with(f"{ended}: {why}", said), hint=hint, code=stable)
    if code in _KILLED:
        hint = "The system may have run out of memory: choose a smaller model, or close other programs."
        return FleetError(_with(ended, said), hint=hint, code="fleet.out_of_memory")
    return FleetError(_with(ended, said), hint="See its last lines above.", code="fleet.start_failed")


def wrong_processor(name: str, code: int, log: str) -> FleetError:
    """Return the error for a program that was built for other processors than this one."""
    return FleetError(
        _with(
            f"the server {name} was ended by the system ({_ending(code)}): its program was built for another "
            "processor than this machine's",
            last_words(log),
        ),
        hint="Run `pip install xllamacpp`, whose engine runs everywhere, or set llama_server_path to a llama-server "
        "made for this machine.",
        code=WRONG_PROCESSOR,
    )


def too_slow(name: str, limit_s: float, log: str) -> FleetError:
    """Return the error for a server that does not become ready."""
    return FleetError(
        _with(f"the server {name} was not ready after {limit_s:.0f} s and was ended", last_words(log)),
        hint="Check that the disk with the model is not failing, or choose a smaller model.",
        code="fleet.start_timeout",
    )


def not_started(name: str, program: str, error: OSError) -> FleetError:
    """Return the error for a program that cannot be run."""
    return FleetError(
        f"the server {name} could not be started: {program}: {error.strerror or error}",
        hint="Check llama_server_path, or run `lilbee doctor`.",
        code="fleet.start_failed",
    )


def died(name: str, code: int | None, log: str) -> FleetError:
    """Return the error for a server that ended while it was in use."""
    if code is not None and code in _ILLEGAL:
        return wrong_processor(name, code, log)
    return FleetError(
        _with(f"the server {name} ended ({_ending(code)})", last_words(log)),
        hint="It is started again at the next request. If that goes on, choose a smaller model.",
        code="fleet.died",
    )


def _ending(code: int | None) -> str:
    if code is None:
        return "its process is gone"
    return f"signal {-code}" if code < 0 else f"code {code}"


def _with(message: str, said: str) -> str:
    return f"{message}. {OUTPUT_BELOW}\n{said}" if said else f"{message}. It said nothing"
