"""Keys come from the environment or the user's own settings, never from a library."""

from __future__ import annotations

from pathlib import Path

import pytest

from lilbee_core.settings import load_settings
from lilbee_core.settings._sections import secret_names


@pytest.mark.parametrize("name", sorted(secret_names()))
@pytest.mark.parametrize("trusted", [True, False])
def test_a_key_in_a_library_is_ignored_also_in_a_trusted_one(tmp_path: Path, name: str, *, trusted: bool) -> None:
    file = tmp_path / "config.toml"
    file.write_text(f'{name} = "sk-of-somebody"\ntop_k = 7\n', encoding="utf-8")
    env = {"LILBEE_CONFIG_DIR": str(tmp_path / "config")}
    settings = load_settings(file, env, trusted=trusted)
    assert (settings.get(name), settings.search.top_k) == ("", 7)
    (warning,) = settings.warnings
    assert f"lilbee config set {name}" in warning
    assert "sk-of-somebody" not in warning


@pytest.mark.parametrize("name", sorted(secret_names()))
def test_a_key_of_the_user_or_the_environment_counts(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "config"
    folder.mkdir()
    (folder / "config.toml").write_text(f'{name} = "mine"\n', encoding="utf-8")
    env = {"LILBEE_CONFIG_DIR": str(folder)}
    assert load_settings(None, env).get(name) == "mine"
    assert load_settings(None, {**env, f"LILBEE_{name.upper()}": "theirs"}).get(name) == "theirs"
