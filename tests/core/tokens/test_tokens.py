"""Tokens: made, checked, revoked; only a hash is kept (R265)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.testing import HashEmbedder


@pytest.fixture
def bee(tmp_path: Path) -> Iterator[Lilbee]:
    (tmp_path / "notes").mkdir()
    with Lilbee(tmp_path / "notes", embedder=HashEmbedder()) as library:
        yield library


def test_a_token_is_known_until_it_is_revoked(bee: Lilbee) -> None:
    made = bee.tokens.create("my agent", read_only=True, collections=["notes"])
    assert bee.tokens.check(made.secret) == made.info
    assert bee.tokens.list() == (made.info,)
    with Lilbee(bee.root, embedder=HashEmbedder()) as other:
        assert other.tokens.check(made.secret) == made.info
        assert other.tokens.revoke("my agent") == made.info
    assert bee.tokens.check(made.secret) is None
    assert bee.tokens.list() == ()


def test_tokens_outlive_a_rebuild(bee: Lilbee) -> None:
    made = bee.tokens.create("x")
    bee.sync()
    bee.rebuild()
    assert bee.tokens.check(made.secret) == made.info


def test_the_secret_is_kept_nowhere(bee: Lilbee) -> None:
    made = bee.tokens.create("x")
    key = made.secret.rpartition("_")[2].encode()
    for file in bee.data_dir.rglob("*"):
        assert not file.is_file() or key not in file.read_bytes(), file
    assert made.secret not in repr(made)
    assert "token" not in made.info.to_dict()


def test_nothing_else_is_a_token(bee: Lilbee) -> None:
    made = bee.tokens.create("x")
    others = [
        "",
        "lb",
        "lb_",
        f"lb_{made.info.id}_",
        made.secret + "x",
        made.secret[:-1],
        "lb_zzzz_abc",
        "\udcff",
        "Bearer",
    ]
    assert [bee.tokens.check(one) for one in others] == [None] * len(others)


@pytest.mark.parametrize("name", ["", "  ", "x" * 101])
def test_a_token_has_a_name(bee: Lilbee, name: str) -> None:
    with pytest.raises(InvalidArgument):
        bee.tokens.create(name)


def test_names_are_unique_and_collections_are_there(bee: Lilbee) -> None:
    bee.tokens.create("x")
    with pytest.raises(InvalidArgument):
        bee.tokens.create(" x ")
    with pytest.raises(NotFound):
        bee.tokens.create("y", collections=["secrets"])
    with pytest.raises(NotFound):
        bee.tokens.revoke("y")
