"""HTTP to an OpenAI-style server: pooled, with retries, and with errors that say what to do."""

from __future__ import annotations

import json
import logging
import random
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias, cast
from urllib.parse import urlsplit, urlunsplit

from lilbee_core.clock import SystemClock
from lilbee_core.errors import ProviderError, ProviderUnavailable
from lilbee_core.providers._failures import (
    Server,
    broke_off,
    failure,
    is_html,
    model_not_found,
    said,
    unreadable,
    web_page,
)

if TYPE_CHECKING:
    import ssl

    import httpx

    from lilbee_core.protocols import Clock

log = logging.getLogger(__name__)

Json: TypeAlias = Mapping[str, Any]
"""A JSON object of a server. Its readers check what they take from it."""

LONGEST_WAIT_S = 60.0
_FIRST_WAIT_S = 0.5
_RETRIED = frozenset({429, 503})
_LARGEST_ERROR_BYTES = 65_536


class OpenAIClient:
    """Sends requests to an OpenAI-style server. Threads may share it; nothing is opened before the first request.

    A refused or dropped connection, 429 and 503 are tried again `retries` times, after a growing wait with jitter or
    after what ``Retry-After`` asks for, if that is at most a minute. The key goes into the header alone: no message
    and no log holds it.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str = "",
        name: str = "the model server",
        url_setting: str = "openai_base_url",
        key_setting: str = "openai_api_key",
        pull_command: str = "",
        request_timeout_s: float = 120.0,
        connect_timeout_s: float = 5.0,
        retries: int = 2,
        transport: httpx.BaseTransport | None = None,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.base_url = base_url.rstrip("/")
        self.server = Server(
            name=name,
            url=shown_url(self.base_url),
            url_setting=url_setting,
            key_setting=key_setting,
            pull_command=pull_command,
        )
        self._api_key = api_key
        self._request_timeout_s, self._connect_timeout_s = request_timeout_s, connect_timeout_s
        self._retries = retries
        self._transport = transport
        self._clock: Clock = clock or SystemClock()
        self._jitter = jitter
        self._client: httpx.Client | None = None
        self._closed = False
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenAIClient({self.server.url!r})"

    # ------------------------------------------------------------------ requests

    def get(self, path: str) -> Json:
        """Return the JSON object that the server has at `path`.

        Raises:
            ProviderError: If it cannot be had.
        """
        with self._answer("GET", path, None, "") as response:
            return self._json(response)

    def post(self, path: str, payload: Json, *, model: str = "") -> Json:
        """Send a JSON object and return the one that comes back.

        Raises:
            ProviderError: If the request fails; the error's type says how.
        """
        with self._answer("POST", path, payload, model) as response:
            return self._json(response)

    def stream(self, path: str, payload: Json, *, model: str = "") -> AbstractContextManager[httpx.Response]:
        """Send a JSON object and give the answer as it comes; leaving the context closes the connection.

        Raises:
            ProviderError: If the server does not start an answer.
        """
        return self._answer("POST", path, payload, model)

    def models(self) -> tuple[Json, ...]:
        """Return what the server says of each of its models.

        Raises:
            ProviderError: If it does not say.
        """
        found = self.get("/models").get("data")
        if not isinstance(found, list):
            raise unreadable(self.server, "its list of models is none")
        entries = cast("list[object]", found)
        return tuple(cast("Json", one) for one in entries if isinstance(one, dict))

    def about(self, model: str) -> Json:
        """Return what the server says of one model.

        Raises:
            ModelNotFound: If it does not have it.
            ProviderError: If it cannot be asked.
        """
        found = {str(one.get("id")): one for one in self.models()}
        about = found.get(model, found.get(f"{model}:latest"))
        if about is None:
            raise model_not_found(model, self.server, f"it has {', '.join(sorted(found)[:10]) or 'none'}")
        return about

    def close(self) -> None:
        """Close the connections. The client cannot be used afterwards."""
        with self._lock:
            self._closed = True
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def __enter__(self) -> OpenAIClient:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    # ------------------------------------------------------------------ answers

    def read(self, response: httpx.Response) -> bytes:
        """Return the whole body of an answer.

        Raises:
            ProviderError: If it breaks off.
        """
        import httpx

        try:
            return response.read()
        except httpx.TimeoutException as error:
            raise self._too_slow() from error
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise broke_off(self.server) from error

    def said(self, body: bytes) -> str:
        """Return what an answer says, in one line, without the key."""
        return said(body, self._api_key)

    def _json(self, response: httpx.Response) -> Json:
        body = self.read(response)
        try:
            found: object = json.loads(body)
        except ValueError as error:
            if is_html(body):
                raise web_page(self.server, self.said(body)) from error
            raise unreadable(self.server, f"no JSON: {self.said(body) or 'nothing'}") from error
        if not isinstance(found, dict):
            raise unreadable(self.server, f"a JSON object was expected, not {self.said(body)}")
        return cast("Json", found)

    @contextmanager
    def _answer(self, method: str, path: str, payload: Json | None, model: str) -> Generator[httpx.Response]:
        response = self._send(method, path, payload, model)
        try:
            yield response
        finally:
            response.close()

    def _send(self, method: str, path: str, payload: Json | None, model: str) -> httpx.Response:
        """Send a request until it is answered, or until there were enough tries."""
        import httpx

        client = self._open()
        body = None if payload is None else json.dumps(payload, ensure_ascii=False).encode("utf-8", "replace")
        for attempt in range(self._retries + 1):
            last = attempt == self._retries
            try:
                request = client.build_request(method, self.base_url + path, content=body)
                response = client.send(request, stream=True)
            except httpx.ReadTimeout as error:
                raise self._too_slow() from error
            except (httpx.TransportError, httpx.InvalidURL, httpx.UnsupportedProtocol) as error:
                if last or not _may_pass(error):
                    raise self._unavailable(error) from error
                self._wait(attempt, None)
                continue
            if response.is_success:
                return response
            wait_s = self._asked_to_wait(response)
            problem = self._problem(response, model)
            if last or response.status_code not in _RETRIED or (wait_s or 0) > LONGEST_WAIT_S:
                raise problem
            self._wait(attempt, wait_s)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _problem(self, response: httpx.Response, model: str) -> ProviderError:
        import httpx

        try:
            body = b"".join(_first_bytes(response, _LARGEST_ERROR_BYTES))
        except httpx.TransportError:
            body = b""
        finally:
            response.close()
        return failure(response.status_code, self.said(body), server=self.server, model=model)

    # ------------------------------------------------------------------ waiting

    def _wait(self, attempt: int, asked_s: float | None) -> None:
        seconds = asked_s if asked_s is not None else _FIRST_WAIT_S * 2**attempt * (0.5 + self._jitter())
        log.info("%s did not answer; trying again in %.1f s", self.server, seconds)
        self._clock.sleep(seconds)

    def _asked_to_wait(self, response: httpx.Response) -> float | None:
        """Return the seconds that ``Retry-After`` asks for, given as a number or as a date."""
        from email.utils import parsedate_to_datetime

        asked = response.headers.get("retry-after", "").strip()
        if not asked:
            return None
        try:
            return max(0.0, float(asked))
        except ValueError:
            pass
        try:
            return max(0.0, (parsedate_to_datetime(asked) - self._clock.now()).total_seconds())
        except (TypeError, ValueError):
            return None

    def _too_slow(self) -> ProviderUnavailable:
        return ProviderUnavailable(
            f"{self.server} did not answer within {self._request_timeout_s:g} s",
            hint="Raise request_timeout_s, or choose a smaller model.",
        )

    def _unavailable(self, error: Exception) -> ProviderUnavailable:
        hint = self.server.url_hint
        return ProviderUnavailable(f"{self.server} cannot be reached: {_reason(error)}", hint=f"Start it, or {hint}.")

    # ------------------------------------------------------------------ the connection

    def _open(self) -> httpx.Client:
        import httpx

        with self._lock:
            if self._closed:
                raise ProviderError(f"The connection to {self.server} is closed", hint="Open the library again.")
            if self._client is None:
                headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                if self._api_key:
                    headers["Authorization"] = f"Bearer {self._api_key}"
                try:
                    self._client = httpx.Client(
                        headers=headers,
                        timeout=httpx.Timeout(self._request_timeout_s, connect=self._connect_timeout_s),
                        limits=httpx.Limits(max_connections=32, max_keepalive_connections=8),
                        transport=self._transport,
                        verify=_certificates(self.base_url),
                        # A proxy for the web cannot reach this machine's own servers.
                        trust_env=not is_local(self.base_url),
                    )
                except (httpx.InvalidURL, ValueError, ImportError, OSError) as error:
                    raise ProviderUnavailable(
                        f"No connection to {self.server} can be prepared: {error}",
                        hint="Check the proxy and certificate variables of your environment.",
                    ) from error
            return self._client


def _certificates(base_url: str) -> ssl.SSLContext | bool:
    """Return what to check certificates with; for plain HTTP an empty store, since loading one takes 25 ms."""
    import ssl

    return True if base_url.startswith("https:") else ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _first_bytes(response: httpx.Response, limit: int) -> Generator[bytes]:
    for piece in response.iter_bytes():
        yield piece[:limit]
        limit -= len(piece)
        if limit <= 0:
            return


def _may_pass(error: Exception) -> bool:
    """Say whether a request that failed like this may work a moment later."""
    import httpx

    return isinstance(error, httpx.NetworkError | httpx.ConnectTimeout | httpx.PoolTimeout | httpx.RemoteProtocolError)


_REASONS = (
    ("ConnectionRefusedError", "nothing listens there"),
    ("gaierror", "there is no host of that name"),
    ("SSLCertVerificationError", "its certificate is not trusted"),
    ("SSLError", "no secure connection could be made"),
    ("ConnectTimeout", "it does not answer"),
    ("TimeoutError", "it does not answer"),
    ("PoolTimeout", "too many requests are under way"),
    ("UnsupportedProtocol", "the address does not start with http:// or https://"),
    ("InvalidURL", "the address is not valid"),
    ("ProxyError", "the proxy refused the connection"),
    ("RemoteProtocolError", "it closed the connection without an answer"),
    ("ConnectionResetError", "it closed the connection"),
    ("ReadError", "it closed the connection"),
    ("WriteError", "it closed the connection"),
)


def _reason(error: BaseException) -> str:
    """Return why a connection failed, in plain words, from the error and what caused it."""
    names: list[str] = []
    texts: list[str] = []
    cause: BaseException | None = error
    while cause is not None and len(names) < 20:
        names.extend(kind.__name__ for kind in type(cause).__mro__)
        texts.append(str(cause).lower())
        cause = cause.__cause__ or cause.__context__
    if any("refused" in text for text in texts):
        return "nothing listens there"
    if any("name or service not known" in text or "name resolution" in text or "nodename" in text for text in texts):
        return "there is no host of that name"
    if any("certificate" in text for text in texts):
        return "its certificate is not trusted"
    return next((reason for name, reason in _REASONS if name in names), "the connection failed")


def is_local(url: str) -> bool:
    """Say whether a URL names this machine."""
    try:
        host = (urlsplit(url).hostname or "").lower()
    except ValueError:
        return False
    return host in {"localhost", "::1", "0.0.0.0"} or host.startswith("127.") or host.endswith(".localhost")


def shown_url(url: str) -> str:
    """Return a URL as it may be shown: without user name and password."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url.rpartition("@")[2]
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
