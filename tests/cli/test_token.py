"""`lilbee token` (R265)."""

from __future__ import annotations

from tests.cli.conftest import Run


def test_tokens_are_made_listed_and_revoked(synced: Run) -> None:
    made = synced("token", "create", "my agent", "--read-only", "--json").json()
    assert made["token"].startswith("lb_")
    assert made["read_only"] is True
    listed = synced("token", "list", "--json")
    assert [one["name"] for one in listed.json()["tokens"]] == ["my agent"]
    assert made["token"] not in listed.out
    assert "reads everything" in synced("token", "list").out
    plain = synced("token", "create", "other").out.strip()
    assert plain.startswith("lb_")
    assert synced("token", "revoke", "my agent", "--json").json() == {"revoked": made["id"], "name": "my agent"}
    assert synced("token", "revoke", "my agent").code == 4
    assert synced("token", "create", "x", "--collection", "secrets").code == 4
    assert synced("token", "create", "other").code == 2
