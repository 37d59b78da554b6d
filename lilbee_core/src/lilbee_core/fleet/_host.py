"""A llama-server around xllamacpp: ``python -m lilbee_core.fleet._host`` takes the flags that a fleet uses.

It runs as a process of its own, so that a crash in the library takes nothing else with it.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from typing import Any

Setter = Callable[[Any, str], None]
"""Puts the value of a flag into the library's parameters."""


def _library() -> Any:
    # It has no types.
    return import_module("xllamacpp")


def _whole(name: str) -> Setter:
    return lambda params, value: setattr(params, name, int(value))


def _switch(name: str, state: bool) -> Setter:
    return lambda params, _: setattr(params, name, state)


def _member(name: str, kind: str, prefix: str) -> Setter:
    def put(params: Any, value: str) -> None:
        setattr(params, name, getattr(getattr(_library(), kind), prefix + value.upper()))

    return put


def _put_model(params: Any, value: str) -> None:
    params.model.path = value


def _put_projector(params: Any, value: str) -> None:
    params.mmproj.path = value


def _put_key(params: Any, value: str) -> None:
    with open(value, encoding="utf-8") as file:
        params.api_keys = [line.strip() for line in file if line.strip() and not line.startswith("#")]


def _put_host(params: Any, value: str) -> None:
    params.hostnames = [value]


def _put_alias(params: Any, value: str) -> None:
    params.model_alias = {value}


def _put_threads(params: Any, value: str) -> None:
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = int(value)


def _put_split(params: Any, value: str) -> None:
    shares = [float(one) for one in value.split(",")]
    params.tensor_split = shares + [0.0] * (len(params.tensor_split) - len(shares))


def _put_flash(params: Any, value: str) -> None:
    words = {"on": "enabled", "off": "disabled", "auto": "auto"}
    _member("flash_attn_type", "llama_flash_attn_type", "LLAMA_FLASH_ATTN_TYPE_")(params, words[value])


def _put_rank(params: Any, _: str) -> None:
    params.embedding = True
    _member("pooling_type", "llama_pooling_type", "LLAMA_POOLING_TYPE_")(params, "rank")


def _put_load_mode(params: Any, value: str) -> None:
    _member("load_mode", "llama_load_mode", "LLAMA_LOAD_MODE_")(params, value.replace("+", "_"))


def _put_fit(params: Any, value: str) -> None:
    params.fit_params = value == "on"


FLAGS: Mapping[str, tuple[str, Setter]] = {
    "--model": ("FILE", _put_model),
    "--mmproj": ("FILE", _put_projector),
    "--host": ("ADDRESS", _put_host),
    "--port": ("NUMBER", _whole("port")),
    "--api-key-file": ("FILE", _put_key),
    "--alias": ("NAME", _put_alias),
    "--ctx-size": ("TOKENS", _whole("n_ctx")),
    "--parallel": ("NUMBER", _whole("n_parallel")),
    "--batch-size": ("TOKENS", _whole("n_batch")),
    "--ubatch-size": ("TOKENS", _whole("n_ubatch")),
    "--n-gpu-layers": ("NUMBER", _whole("n_gpu_layers")),
    "--split-mode": ("none|layer|row", _member("split_mode", "llama_split_mode", "LLAMA_SPLIT_MODE_")),
    "--tensor-split": ("SHARES", _put_split),
    "--threads": ("NUMBER", _put_threads),
    "--embedding": ("", _switch("embedding", True)),
    "--reranking": ("", _put_rank),
    "--pooling": ("KIND", _member("pooling_type", "llama_pooling_type", "LLAMA_POOLING_TYPE_")),
    "--jinja": ("", _switch("use_jinja", True)),
    "--flash-attn": ("on|off|auto", _put_flash),
    "--cache-type-k": ("TYPE", _member("cache_type_k", "ggml_type", "GGML_TYPE_")),
    "--cache-type-v": ("TYPE", _member("cache_type_v", "ggml_type", "GGML_TYPE_")),
    "--cache-ram": ("MIB", _whole("cache_ram_mib")),
    "--load-mode": ("MODE", _put_load_mode),
    "--sleep-idle-seconds": ("SECONDS", _whole("sleep_idle_seconds")),
    "--fit": ("on|off", _put_fit),
    "--no-ui": ("", _switch("ui", False)),
    "--offline": ("", _switch("offline", True)),
}
"""What llama-server calls it, and where the library keeps it."""


def main(arguments: Sequence[str]) -> int:
    """Serve a model until a signal ends it; return the exit code."""
    if "--version" in arguments:
        return _say(f"version: xllamacpp {version('xllamacpp')}")
    if "--help" in arguments:
        return _say("\n".join(f"{flag} {value}".rstrip() for flag, (value, _) in FLAGS.items()))
    library = _library()
    if "--list-devices" in arguments:
        return _say(devices_text(library.get_device_info()))
    params = library.CommonParams()
    problem = apply(params, arguments)
    if problem:
        return _complain(problem)
    over = _end_signals()
    try:
        server = library.Server(params)
    except RuntimeError as error:
        return _complain(str(error))
    _say(f"listening on {server.listening_address}")
    over.wait()
    # Taking the library apart takes seconds, and the system frees its memory all the same.
    os._exit(0)


def apply(params: Any, arguments: Sequence[str]) -> str:
    """Put a command line into the library's parameters; return what is wrong with it."""
    words = iter(arguments)
    for flag in words:
        known = FLAGS.get(flag)
        if known is None:
            return f"invalid argument: {flag}"
        takes, put = known
        value = next(words, None) if takes else ""
        if value is None:
            return f"invalid argument: {flag} needs {takes}"
        try:
            put(params, value)
        except (ValueError, KeyError, AttributeError, OSError) as error:
            return f"invalid value for {flag}: {value} ({type(error).__name__}: {error})"
    return ""


def devices_text(devices: Sequence[Mapping[str, Any]]) -> str:
    """Return the list of cards as llama-server prints it."""
    lines = ["Available devices:"]
    for one in devices:
        if "GPU" in str(one["type"]):
            total, free = (int(one[key]) // (1 << 20) for key in ("memory_total", "memory_free"))
            lines.append(f"  {one['name']}: {one['description']} ({total} MiB, {free} MiB free)")
    return "\n".join(lines if len(lines) > 1 else [*lines, "  (none)"])


def _end_signals() -> threading.Event:
    """Return an event that is set when somebody asks this process to end."""
    over = threading.Event()

    def end(number: int, frame: object) -> None:
        over.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, end)
    return over


def _say(text: str) -> int:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
    return 0


def _complain(text: str) -> int:
    sys.stderr.write(f"error: {text}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
