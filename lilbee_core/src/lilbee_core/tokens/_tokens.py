"""Makes, checks and revokes tokens. Of a token only a hash is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import cast

from lilbee_core.arguments import checked
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_core.protocols import Clock, StateStore
from lilbee_core.text import fold_space

_KIND, _PREFIX = "token", "lb"
_LONGEST_NAME = 100
_NOBODY = "0" * 64


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenInfo:
    """What a token is called and allows. `collections` are those it may see, none for the whole library."""

    id: str
    name: str
    read_only: bool = False
    collections: tuple[str, ...] = ()
    created_at: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "name": self.name,
            "read_only": self.read_only,
            "collections": list(self.collections),
            "created_at": self.created_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token that was just made. Its `secret` is told this once; nobody can find it out later."""

    secret: str
    info: TokenInfo

    def __repr__(self) -> str:
        return f"NewToken({self.info!r})"

    def to_dict(self) -> dict[str, object]:
        return {**self.info.to_dict(), "token": self.secret}


@checked
class Tokens:
    """The tokens of a library, kept in its state, which no rebuild touches. Processes and threads may share it.

    Args:
        state: Where they are kept.
        clock: Says when each was made.
        prepare: Makes the folder that the state lies in.
        check_collections: Refuses names of collections that do not exist.
    """

    def __init__(
        self,
        state: Callable[[], StateStore],
        clock: Clock,
        *,
        prepare: Callable[[], None],
        check_collections: Callable[[Sequence[str]], None],
    ) -> None:
        self._state = state
        self._clock = clock
        self._prepare = prepare
        self._check_collections = check_collections

    def create(self, name: str, *, read_only: bool = False, collections: Sequence[str] = ()) -> NewToken:
        """Make a token.

        Args:
            name: What it is for; the log of changes names it.
            read_only: Whether it may change nothing.
            collections: What it may see of the library; nothing of the rest, not even that it is there.

        Raises:
            InvalidArgument: If the name is blank, too long, or taken.
            NotFound: If there is no such collection.
        """
        line = fold_space(name)
        if not line or len(line) > _LONGEST_NAME:
            raise InvalidArgument(f"{name!r} is no name for a token", hint="Say in a few words what it is for.")
        if any(one.name == line for one in self.list()):
            raise InvalidArgument(f"there is a token {line!r} already", hint="Choose another name, or revoke it.")
        self._check_collections(collections)
        self._prepare()
        info = TokenInfo(
            id=secrets.token_hex(4),
            name=line,
            read_only=read_only,
            collections=tuple(dict.fromkeys(collections)),
            created_at=self._clock.now().astimezone(UTC).isoformat(timespec="seconds"),
        )
        secret = f"{_PREFIX}_{info.id}_{secrets.token_urlsafe(32)}"
        self._state().save(_KIND, info.id, {**info.to_dict(), "sha256": _hash(secret)})
        return NewToken(secret=secret, info=info)

    def list(self) -> tuple[TokenInfo, ...]:
        """Return the tokens, the oldest first."""
        found = [_info(value) for _, value in self._state().items(_KIND)]
        return tuple(sorted(found, key=lambda one: (one.created_at, one.id)))

    def revoke(self, ref: str) -> TokenInfo:
        """Let a token, by its id or name, count no longer; a server that runs refuses it from now on.

        Raises:
            NotFound: If there is none.
        """
        found = next((one for one in self.list() if ref in (one.id, one.name)), None)
        if found is None:
            raise NotFound(f"there is no token {ref!r}", hint="Run `lilbee token list`.")
        self._state().delete(_KIND, found.id)
        return found

    def check(self, secret: str) -> TokenInfo | None:
        """Return what a token allows; None if there is no such token. How long that takes tells nothing of it."""
        prefix, _, rest = secret.partition("_")
        id_ = rest.partition("_")[0]
        known = self._state().load(_KIND, id_) if prefix == _PREFIX and id_ else None
        expected = _NOBODY if known is None else str(known["sha256"])
        same = hmac.compare_digest(_hash(secret), expected)
        return _info(known) if same and known is not None else None


def _hash(secret: str) -> str:
    # A secret of 256 random bits needs no slow hash: nobody can try them all.
    return hashlib.sha256(secret.encode("utf-8", "surrogateescape")).hexdigest()


def _info(value: Mapping[str, object]) -> TokenInfo:
    return TokenInfo(
        id=str(value["id"]),
        name=str(value["name"]),
        read_only=bool(value["read_only"]),
        collections=tuple(cast("list[str]", value["collections"])),
        created_at=str(value["created_at"]),
    )
