"""A library whose folder is moved away while it is served: nothing is made in its place, and it can be brought back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from litestar import Litestar
from litestar.testing import TestClient

from lilbee_core import Lilbee
from tests.server.conftest import TOKEN
from tests.server.web.conftest import ORIGIN

TEXT = {"files": ("wasps.txt", b"Wasps sting.", "text/plain")}
CHANGES: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("PUT", "/api/uploads/wasps.txt", {"content": b"Wasps sting."}),
    ("DELETE", "/api/uploads/wasps.txt", {}),
    ("POST", "/api/sync", {"json": {}}),
    ("POST", "/api/chat", {"json": {"message": "When does the queen lay eggs?"}}),
    ("PATCH", "/api/config", {"json": {"top_k": 7}}),
    ("POST", "/documents/upload", {"files": TEXT}),
    ("POST", "/documents/sync", {}),
    ("POST", "/documents/crawl", {"data": {"urls": "http://127.0.0.1:9/"}}),
    ("POST", "/chat", {"data": {"message": "When does the queen lay eggs?"}}),
    ("POST", "/settings", {"data": {"edit": "top_k", "value": "7"}}),
    ("POST", "/collections", {"data": {"path": "garden", "name": "garden"}}),
)


@pytest.mark.slow
def test_nothing_is_made_in_place_of_a_library_that_was_moved(
    browser: TestClient[Litestar], library: Lilbee, tmp_path: Path
) -> None:
    root = Path(str(library.root))
    away = root.rename(tmp_path / "away")
    for method, path, sent in CHANGES:
        headers = {"Authorization": f"Bearer {TOKEN}"} if path.startswith("/api/") else {"Origin": ORIGIN}
        answer = browser.request(method, path, headers=headers, **sent)
        assert not root.exists(), f"{method} {path} made {sorted(root.rglob('*'))}"
        assert "Traceback" not in answer.text
        if "upload" in path:
            assert answer.status_code == 404, answer.text
    away.rename(root)
    assert "bees.md" in browser.get("/search?q=queen+eggs").text
    token = {"Authorization": f"Bearer {TOKEN}"}
    assert browser.put("/api/uploads/wasps.txt", content=b"Wasps sting.", headers=token).status_code == 202
    assert "/api/uploads/wasps.txt" in (library.data_dir / "audit.log").read_text(encoding="utf-8")
