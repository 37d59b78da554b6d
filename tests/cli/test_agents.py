"""What clients are told of a library, and how they are started with it (R241, R242, R262)."""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from lilbee_cli.main import run
from lilbee_core.tokens import ServerSession, write_session

CLIENTS = ("opencode", "claude", "litellm", "generic")
OTHER = {"command": "other", "args": ["--with", "ü"]}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "notes"
    (root / ".lilbee").mkdir(parents=True)
    monkeypatch.chdir(root)
    monkeypatch.setenv("LILBEE_EMBEDDING_MODEL", "none")
    return root


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["agent-config", *words]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("client", CLIENTS)
def test_each_client_is_told_in_its_own_words(library: Path, capsys: pytest.CaptureFixture[str], client: str) -> None:
    told = json.loads(printed(capsys, client, "--json"))
    servers = told.get("mcp") or told.get("mcpServers") or told["mcp_servers"]
    command = servers["lilbee"]["command"]
    words = command if isinstance(command, list) else [command, *servers["lilbee"]["args"]]
    assert words[-3:] == ["mcp", "--library", str(library)]
    assert os.path.isabs(words[0])
    text = printed(capsys, client)
    if client == "litellm":
        yaml = pytest.importorskip("yaml")
        assert yaml.safe_load(text) == told
        assert told["model_list"][0]["litellm_params"]["api_key"] == "os.environ/LILBEE_TOKEN"
    else:
        assert json.loads(text) == told
    assert [one.name for one in library.iterdir()] == [".lilbee"]


def test_the_token_of_the_server_that_runs_is_told_only_on_request(
    library: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["agent-config", "opencode", "--with-token"]) == 1
    assert "no server of this library runs" in capsys.readouterr().err
    write_session(library / ".lilbee", ServerSession(url="http://127.0.0.1:9", token="hidden", pid=os.getpid()))
    plain = json.loads(printed(capsys, "opencode"))["provider"]["lilbee"]["options"]
    assert plain == {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "{env:LILBEE_TOKEN}"}
    assert (
        json.loads(printed(capsys, "opencode", "--with-token"))["provider"]["lilbee"]["options"]["apiKey"] == "hidden"
    )


def test_other_entries_stay_and_what_was_there_is_kept(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = library / ".mcp.json"
    before = json.dumps({"mcpServers": {"other": OTHER, "lilbee": {"command": "old"}}, "more": [1]}, indent=4)
    file.write_text(before, encoding="utf-8")
    file.chmod(0o640)
    told = json.loads(printed(capsys, "claude", "--write", "--json"))
    assert told["changed"]
    assert Path(told["backup"]).read_text("utf-8") == before
    after = json.loads(file.read_text("utf-8"))
    assert after["mcpServers"]["other"] == OTHER
    assert after["more"] == [1]
    assert after["mcpServers"]["lilbee"]["args"][-1] == str(library)
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    again = json.loads(printed(capsys, "claude", "--write", "--json"))
    assert again == {"file": str(file), "changed": False, "backup": None}
    assert len(list(library.glob(".mcp.json*"))) == 2


def test_a_list_of_models_keeps_the_others(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = library / "proxy.json"
    file.write_text(json.dumps({"model_list": [{"model_name": "gpt"}, {"model_name": "lilbee", "x": 1}]}), "utf-8")
    printed(capsys, "litellm", "--write", "--file", str(file))
    names = [one["model_name"] for one in json.loads(file.read_text("utf-8"))["model_list"]]
    assert names == ["gpt", "lilbee"]


def test_a_new_file_is_for_its_user_alone(library: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "generic", "--write", "--file", "deep/er/client.json")
    file = library / "deep" / "er" / "client.json"
    assert json.loads(file.read_text("utf-8"))["openai"]["model"] == "lilbee"
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link(library: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text("{}", encoding="utf-8")
    (library / "opencode.json").symlink_to(real)
    printed(capsys, "opencode", "--write")
    assert (library / "opencode.json").is_symlink()
    assert "lilbee" in json.loads(real.read_text("utf-8"))["mcp"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("// my notes\n{}", "is no plain JSON"),
        ("[]", "holds no JSON object"),
        ('{"mcp": []}', "'mcp' is no dict there"),
        ('{"mcp": {}, "provider": 3}', "'provider' is no dict there"),
        ("\xff", "is no plain JSON"),
    ],
)
def test_a_file_that_would_lose_something_is_left_alone(
    library: Path, capsys: pytest.CaptureFixture[str], content: str, said: str
) -> None:
    file = library / "opencode.json"
    file.write_text(content, encoding="utf-8")
    assert run(["agent-config", "opencode", "--write"]) == 1
    assert said in capsys.readouterr().err
    assert file.read_text("utf-8") == content
    assert len(list(library.glob("opencode*"))) == 1


def test_a_client_that_is_not_installed_is_named(
    library: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(library))
    for words in (["launch", "claude"], ["launch", "generic", "nothing-here", "--json"]):
        assert run(words) == 4
        said = capsys.readouterr()
        assert "there is no program" in said.err + said.out
    assert run(["launch", "generic"]) == 2
    assert run(["launch", "generic", "--library", str(library), "sh"]) == 2
    assert "options stand before the client: lilbee launch --library" in capsys.readouterr().err


def fake(folder: Path, name: str, script: str) -> None:
    """Put a program on the path that runs a script of ours."""
    folder.mkdir(exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable}\n{script}", encoding="utf-8")
    file.chmod(0o755)


SHOWS = """
import json, os, sys
given = dict(one.split("=", 1) for one in sys.argv[1:] if "=" in one)
told = json.load(open(given["--mcp-config"], encoding="utf-8"))
plugin = given["--plugin-dir"]
named = json.load(open(plugin + "/.claude-plugin/plugin.json", encoding="utf-8"))["name"]
skill = open(plugin + "/skills/lilbee/SKILL.md", encoding="utf-8").read()
seen = {"arguments": sys.argv[1:], "file": given["--mcp-config"], "told": told, "named": named, "skill": skill}
json.dump(seen, open(os.environ["OUT"], "w"))
sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs a script that runs")
def test_a_client_is_started_with_what_it_is_to_know_and_nothing_stays(
    library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake(tmp_path / "bin", "claude", SHOWS)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OUT", str(tmp_path / "out.json"))
    assert run(["launch", "claude", "--model", "small", "What", "is", "new?"]) == 7
    seen: Any = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert seen["arguments"][2:] == ["--model", "small", "What", "is", "new?"]
    assert seen["named"] == "lilbee"
    begin, name, description, end = seen["skill"].splitlines()[:4]
    assert (begin, name, end) == ("---", "name: lilbee", "---")
    assert 50 < len(json.loads(description.removeprefix("description: "))) < 1024
    assert {"search", "read", "ask", "list_documents"} <= set(re.findall(r"`(\w+)`", seen["skill"]))
    assert seen["told"]["mcpServers"]["lilbee"]["args"][-1] == str(library)
    assert not Path(seen["file"]).exists()
    assert [one.name for one in library.iterdir()] == [".lilbee"]


ASKS = """
import json, os, urllib.request
told = json.load(open(os.environ["OPENCODE_CONFIG"], encoding="utf-8"))["provider"]["lilbee"]["options"]
headers = {"Authorization": "Bearer " + os.environ["LILBEE_TOKEN"]}
request = urllib.request.Request(told["baseURL"] + "/models", headers=headers)
models = json.load(urllib.request.urlopen(request))
with open(json.load(open(os.environ["OPENCODE_CONFIG"], encoding="utf-8"))["instructions"][0]) as file:
    skill = file.read()
json.dump({"url": told["baseURL"], "models": models, "skill": skill}, open(os.environ["OUT"], "w"))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a script that runs")
def test_a_server_runs_as_long_as_its_client(library: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake(tmp_path / "bin", "opencode", ASKS)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("OUT", str(tmp_path / "out.json"))
    monkeypatch.setenv("LILBEE_CONFIG_DIR", str(tmp_path / "config"))
    assert run(["launch", "opencode"]) == 0
    seen: Any = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert seen["models"]["object"] == "list"
    assert "name: lilbee" in seen["skill"]
    assert not (library / ".lilbee" / "server.json").exists()
