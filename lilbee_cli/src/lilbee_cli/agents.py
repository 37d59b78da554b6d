"""How agents and other clients are told of a library: what each wants to read, and where."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lilbee_core.errors import LilbeeError

NAME = "lilbee"
TOKEN = "LILBEE_TOKEN"
URL = "http://127.0.0.1:7421"
PASTE = "Paste what is printed without --write."

Config = dict[str, Any]


class ClientError(LilbeeError):
    """The configuration of a client cannot be changed, or the client cannot be started."""

    default_code = "client.failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How a client gets to the library: a command that speaks MCP, and the address of a server.

    Without a `token` clients take it from the environment. `skill` is a file that says how to work with a library.
    """

    command: tuple[str, ...]
    url: str = URL
    token: str | None = None
    skill: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client.

    `program` starts it, `file` is where it looks for its configuration, `tell` how a session of it is told of one, and
    of a folder with a skill.
    """

    name: str
    program: str | None
    file: str
    entries: Callable[[Way], Config]
    tell: Callable[[Path, Path], tuple[Sequence[str], Mapping[str, str]]]
    needs_server: bool = False


def _opencode(way: Way) -> Config:
    return {
        **({"instructions": [str(way.skill)]} if way.skill is not None else {}),
        "mcp": {NAME: {"type": "local", "command": list(way.command), "enabled": True}},
        "provider": {
            NAME: {
                "npm": "@ai-sdk/openai-compatible",
                "name": NAME,
                "options": {"baseURL": f"{way.url}/v1", "apiKey": way.token or f"{{env:{TOKEN}}}"},
                "models": {NAME: {"name": "lilbee: answers from your documents"}},
            }
        },
    }


def _servers(way: Way) -> Config:
    first, *rest = way.command
    return {"mcpServers": {NAME: {"type": "stdio", "command": first, "args": rest}}}


def _litellm(way: Way) -> Config:
    first, *rest = way.command
    key = way.token or f"os.environ/{TOKEN}"
    params = {"model": f"openai/{NAME}", "api_base": f"{way.url}/v1", "api_key": key}
    return {
        "model_list": [{"model_name": NAME, "litellm_params": params}],
        "mcp_servers": {NAME: {"transport": "stdio", "command": first, "args": rest}},
    }


def _generic(way: Way) -> Config:
    key = way.token or f"${{{TOKEN}}}"
    skill = {"skill": str(way.skill)} if way.skill is not None else {}
    return {**_servers(way), "openai": {"base_url": f"{way.url}/v1", "api_key": key, "model": NAME}, **skill}


CLIENTS = {
    one.name: one
    for one in (
        Client(
            name="opencode",
            program="opencode",
            file="opencode.json",
            entries=_opencode,
            tell=lambda file, skill: ((), {"OPENCODE_CONFIG": str(file)}),
            needs_server=True,
        ),
        Client(
            name="claude",
            program="claude",
            file=".mcp.json",
            entries=_servers,
            # By "=", since these options would take what follows as more of theirs.
            tell=lambda file, skill: ((f"--mcp-config={file}", f"--plugin-dir={skill}"), {}),
        ),
        Client(
            name="litellm",
            program="litellm",
            file="litellm_config.yaml",
            entries=_litellm,
            tell=lambda file, skill: (("--config", str(file)), {}),
            needs_server=True,
        ),
        Client(
            name="generic",
            program=None,
            file="lilbee-client.json",
            entries=_generic,
            tell=lambda file, skill: ((), {"LILBEE_CLIENT_CONFIG": str(file)}),
            needs_server=True,
        ),
    )
}
"""The clients by name. ``generic`` is every other one."""


def mcp_command(library: Path | None, data_dir: str | None) -> tuple[str, ...]:
    """Return the command that serves a library to an agent, by its whole path: clients have a PATH of their own."""
    found = shutil.which(NAME)
    program = [found] if found else [sys.executable, "-m", "lilbee_cli.main"]
    where = ["--library", str(library)] if library is not None else []
    data = ["--data-dir", str(Path(data_dir).resolve())] if data_dir is not None else []
    return (*program, "mcp", *where, *data)


def shown(client: Client, config: Config) -> str:
    """Return a configuration as the client's file has it."""
    if client.file.endswith(".yaml"):
        return "\n".join(_yaml(config, 0)) + "\n"
    return json.dumps(config, indent=2, ensure_ascii=False) + "\n"


def merged(there: Config, ours: Config) -> Config:
    """Return what is there with our entries in it; what is not called ours stays as it is."""
    result = dict(there)
    for key, value in ours.items():
        old = there.get(key)
        if key == NAME or type(old) is not type(value):
            if old is not None and key != NAME:
                raise ClientError(f"{key!r} is no {type(value).__name__} there", hint="Correct the file by hand.")
            result[key] = value
        elif isinstance(value, dict):
            result[key] = merged(cast("Config", old), cast("Config", value))
        elif isinstance(value, list):
            entries = cast("list[Any]", cast("object", value))
            result[key] = [*(one for one in cast("list[Any]", old) if not _is_ours(one)), *entries]
        else:
            result[key] = value
    return result


def write(client: Client, file: Path, ours: Config) -> tuple[bool, Path | None]:
    """Put our entries into a file; return whether that changed it, and where what was there before is kept.

    Raises:
        ClientError: If the file cannot be read as what it should be, or cannot be written.
    """
    real = Path(os.path.realpath(file))
    try:
        before = real.read_text(encoding="utf-8") if real.exists() else None
        there = {} if before is None or not before.strip() else _read(real, before)
        config = merged(there, ours)
        if before is not None and config == there:
            return False, None
        backup = _backup(real) if before is not None else None
        # A client that reads YAML reads JSON as well; what was JSON stays that.
        text = shown(client, config) if not there else json.dumps(config, indent=2, ensure_ascii=False) + "\n"
        _replace(real, text)
    except (OSError, UnicodeError) as error:
        raise ClientError(f"{file} cannot be changed: {error}", hint=PASTE) from error
    return True, backup


def _read(file: Path, text: str) -> Config:
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise ClientError(
            f"{file} is no plain JSON, so that nothing can be put into it without losing something: {error}",
            hint=PASTE,
        ) from error
    if not isinstance(value, dict):
        raise ClientError(f"{file} holds no JSON object", hint="Correct the file, or name another one with --file.")
    return cast("Config", value)


def _backup(file: Path) -> Path:
    number = 0
    while True:
        kept = file.with_name(f"{file.name}.bak{number or ''}")
        if not kept.exists():
            shutil.copy2(file, kept)
            return kept
        number += 1


def _replace(file: Path, text: str) -> None:
    """Write a file whole or not at all; only the user may read a new one, since it may hold a token."""
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as out:
            out.write(text)
        if file.exists():
            shutil.copymode(file, name)
        os.replace(name, file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _is_ours(entry: object) -> bool:
    return isinstance(entry, dict) and cast("Config", entry).get("model_name") == NAME


def _yaml(value: object, depth: int) -> list[str]:
    """Return maps, lists and strings as YAML; strings are quoted as in JSON, which YAML understands."""
    pad = "  " * depth
    if isinstance(value, dict):
        return [line for key, one in cast("Config", value).items() for line in _yaml_entry(f"{pad}{key}:", one, depth)]
    lines: list[str] = []
    for one in cast("list[object]", value):
        if isinstance(one, str):
            lines.append(f"{pad}- {json.dumps(one, ensure_ascii=False)}")
        else:
            first, *rest = _yaml(one, depth + 1)
            lines += [f"{pad}- {first.lstrip()}", *rest]
    return lines


def _yaml_entry(start: str, value: object, depth: int) -> list[str]:
    if isinstance(value, dict | list) and value:
        return [start, *_yaml(cast("object", value), depth + 1)]
    return [f"{start} {json.dumps(value, ensure_ascii=False)}"]
