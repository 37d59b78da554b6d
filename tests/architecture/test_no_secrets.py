"""Nothing that is tracked tells of keys, of this machine, or of where its packages come from (R394)."""

from __future__ import annotations

import configparser
import os
import re
import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.architecture._source import ROOT

# What keys look like, by who gives them out. The patterns do not match themselves: brackets stand in each.
KEYS = {
    "a key of OpenAI or Anthropic": r"\bsk-(?:[a-z]+-)*[A-Za-z0-9_]{20,}",
    "a token of GitHub": r"\bg(?:h[pousr]|ithub_pat)_[A-Za-z0-9_]{20,}",
    "a token of GitLab": r"\bglpat-[A-Za-z0-9_-]{20,}",
    "a token of Hugging Face": r"\bhf_[A-Za-z0-9]{30,}",
    "a token of PyPI": r"\bpypi-[A-Za-z0-9_-]{40,}",
    "a key of AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "a key of Google": r"\bAIza[A-Za-z0-9_-]{35}\b",
    "a token of Slack": r"\bxox[abprs]-[A-Za-z0-9-]{10,}",
    "a private key": r"-----BEGIN (?:[A-Z]+ )*PRIVATE[ ]KEY-----",
    "a password in an address": r"\b[a-z][a-z0-9+]*://[^\s/:@'\"{}<>]+:[^\s/:@'\"{}<>]{6,}@[a-z0-9.-]+",
}
# How a package index is named in the settings of pip, uv and their like.
INDEX_OPTIONS = r"(?i)\b(?:extra[-_])?index[-_]url\b\s*[=: ]|\bfind[-_]links\b\s*=|\[\[tool\.uv\.index\]\]"
MAKES_INDEX_OF_ITS_OWN = {"noxfile.py"}
"""`nox -s package` installs from the folder that it has just built."""
PASSWORDS_OF_TESTS = ("secret", "hunter2", "s3cret")


def tracked() -> list[Path]:
    """The files that git knows of."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout of the repository")
    paths = [ROOT / name for name in listed.stdout.decode("utf-8", "surrogateescape").split("\0") if name]
    return [path for path in paths if path.is_file()]


def texts() -> list[tuple[str, str]]:
    """Every tracked file by name, bytes that are no UTF-8 replaced."""
    return [(path.relative_to(ROOT).as_posix(), path.read_bytes().decode("utf-8", "replace")) for path in tracked()]


def found(pattern: str, texts: list[tuple[str, str]]) -> list[str]:
    """Where a pattern matches: file and line, never the secret itself."""
    return [
        f"{name}:{text.count(chr(10), 0, match.start()) + 1}"
        for name, text in texts
        for match in re.finditer(pattern, text)
        if not any(word in match.group() for word in PASSWORDS_OF_TESTS)
    ]


def test_there_is_something_to_look_at() -> None:
    assert len(tracked()) > 100


def test_no_file_holds_a_key() -> None:
    every = texts()
    places = {what: found(pattern, every) for what, pattern in KEYS.items()}
    assert {what: where for what, where in places.items() if where} == {}


@pytest.mark.parametrize(
    "sample",
    [
        "sk-" + "proj-" + "a1" * 20,
        "ghp" + "_" + "A1" * 18,
        "AKIA" + "Q7" * 8,
        "-----BEGIN RSA " + "PRIVATE KEY-----",
        "https://bee:" + "honey12" + "@example.org/simple",
    ],
)
def test_a_key_would_be_seen(sample: str) -> None:
    assert any(found(pattern, [("a.toml", f"x = '{sample}'\n")]) == ["a.toml:1"] for pattern in KEYS.values())


def test_no_file_names_a_place_on_this_machine() -> None:
    """The checkout, the user's home and name, the machine's name: they say who made this, and lead nowhere."""
    places = {str(ROOT), str(ROOT.parent), str(Path.home()), os.environ.get("VIRTUAL_ENV", "")}
    telling = [re.escape(place) + r"(?:/|\\|\b)" for place in places if len(Path(place).parts) > 2]
    name = socket.gethostname()
    if len(name) > 5 and not name.startswith("local"):
        telling.append(rf"\b{re.escape(name)}\b")
    every = texts()
    assert [where for pattern in telling for where in found(pattern, every)] == []


def test_no_file_names_the_home_of_a_person() -> None:
    """Homes in tests belong to the bee, and to a folder that is named like a model."""
    assert found(r"(?<![\w.])/(?:home|Users)/(?!bee\b|e5\b)[a-z]\w*|[A-Z]:\\+Users\\+(?!bee\b)\w+", texts()) == []


def test_no_file_names_a_package_index() -> None:
    every = [(name, text) for name, text in texts() if name not in MAKES_INDEX_OF_ITS_OWN and name != _here()]
    assert found(INDEX_OPTIONS, every) == []


def test_no_file_names_the_index_that_this_machine_uses() -> None:
    every = texts()
    hosts = {host for host in _index_hosts() if host not in {"pypi.org", "files.pythonhosted.org", "localhost"}}
    assert {host for host in hosts if found(rf"\b{re.escape(host)}\b", every)} == set()


def test_the_lock_file_stays_out() -> None:
    """It records the address of every archive at the index that it was made against."""
    assert [path.name for path in tracked() if path.name in {"uv.lock", "poetry.lock", "pip.conf", ".pypirc"}] == []


def _index_hosts() -> set[str]:
    """The hosts of the package indexes that pip or uv are told of here."""
    addresses = [value for name, value in os.environ.items() if re.fullmatch(r"(?:PIP|UV)_\w*(?:INDEX|LINKS)\w*", name)]
    homes = [Path("/etc"), Path("/etc/xdg/pip"), Path.home() / ".config" / "pip", Path.home() / ".pip"]
    for file in [home / "pip.conf" for home in homes]:
        parser = configparser.RawConfigParser(strict=False)
        if file.is_file() and parser.read(file, "utf-8"):
            addresses += [value for section in parser.sections() for _, value in parser.items(section)]
    split = [urlsplit(address) for value in addresses for address in value.split()]
    return {one.hostname for one in split if one.scheme in {"http", "https"} and one.hostname}


def _here() -> str:
    return Path(__file__).resolve().relative_to(ROOT).as_posix()
