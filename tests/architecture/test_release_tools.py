"""Setting the version touches our version alone, everywhere it stands."""

from __future__ import annotations

import pytest

from tests.tools import set_version as tool


@pytest.mark.parametrize("path", [path.relative_to(tool.ROOT).as_posix() for path in tool.files(tool.ROOT)])
def test_only_our_own_version_changes(path: str) -> None:
    before = (tool.ROOT / path).read_text("utf-8").splitlines()
    after = tool.set_version("\n".join(before), "9.8.7").splitlines()
    changed = [new for old, new in zip(before, after, strict=True) if old != new]
    if path.endswith("pyproject.toml"):
        assert 'version = "9.8.7"' in changed
    assert all("9.8.7" in line for line in changed)
    assert len(changed) <= 2
    pins = [line for line in after if "lilbee-core==" in line]
    assert all("lilbee-core==9.8.7" in line for line in pins)


@pytest.mark.parametrize("arguments", [[], ["1.2"], ["1.2.3", "4.5.6"], ["v1.2.3"], ["1.2.3; rm"]])
def test_a_bad_version_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert tool.main(arguments) == 2
    assert "usage" in capsys.readouterr().err
