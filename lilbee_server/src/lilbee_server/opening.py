"""Opens the page of a server that runs: asks it for an address that signs one browser in."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from lilbee_core.errors import LilbeeError
from lilbee_core.tokens import read_session

_ANSWERS_WITHIN_S = 10.0
_MOST_BYTES = 100_000


class NotServed(LilbeeError):
    """No server serves the library's page."""

    default_code = "server.not_served"


def sign_in_url(data_dir: Path) -> str:
    """Return an address that signs one browser in at the page of a library.

    Raises:
        NotServed: If no server runs that has a page.
    """
    session = read_session(data_dir)
    if session is None:
        raise NotServed("no server runs for this library", hint="Start one: lilbee serve.")
    # Never over a proxy: the token is for this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    headers = {"Authorization": f"Bearer {session.token}"}
    asked = urllib.request.Request(f"{session.url}/api/sign-in", method="POST", headers=headers, data=b"")
    try:
        with opener.open(asked, timeout=_ANSWERS_WITHIN_S) as answer:
            told: dict[str, Any] = json.loads(answer.read(_MOST_BYTES))
            return str(told["url"])
    except urllib.error.HTTPError as error:
        hint = "Stop it, and start it again with lilbee serve."
        raise NotServed(f"the server at {session.url} shows no page (status {error.code})", hint=hint) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise NotServed(f"the server at {session.url} does not answer", hint="Start it again: lilbee serve.") from error
