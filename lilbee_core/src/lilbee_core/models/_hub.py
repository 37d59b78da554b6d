"""The hub: looking for models, and what files a model has. The protocol is that of Hugging Face."""

from __future__ import annotations

import contextlib
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from lilbee_core.errors import HubError, ModelNotFound
from lilbee_core.models._names import HubRef, choose, choose_projector, is_projector, is_safe, parts_of, quantization_of
from lilbee_core.types import ModelEntry, ModelFile

if TYPE_CHECKING:
    import httpx

    from lilbee_core.protocols import Clock

_TASKS = {
    "chat": frozenset({"text-generation", "image-text-to-text", "any-to-any"}),
    "embed": frozenset({"feature-extraction", "sentence-similarity"}),
    "rerank": frozenset({"text-ranking", "text-classification"}),
    "vision": frozenset({"image-text-to-text", "image-to-text", "any-to-any"}),
}
_CONNECT_S, _READ_S = 10.0, 30.0
_TRIES = 4
_FIRST_WAIT_S, _LONGEST_WAIT_S = 1.0, 30.0
_BUSY = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True, kw_only=True)
class HubModel:
    """A repository of the hub."""

    repo: str
    revision: str = "main"
    task: str = ""
    tags: tuple[str, ...] = ()
    license: str = ""
    downloads: int = 0
    gated: bool = False
    architecture: str = ""
    context_tokens: int = 0
    files: tuple[ModelFile, ...] = ()

    @property
    def roles(self) -> tuple[str, ...]:
        """What it can serve, as far as the hub tells; a chat model with a projector also sees."""
        found = {role for role, tasks in _TASKS.items() if self.task in tasks}
        if "reranker" in self.repo.lower() or "rerank" in self.tags:
            return ("rerank",)
        if self.files and not any(is_projector(one.name) for one in self.files):
            found.discard("vision")
        return tuple(sorted(found))

    def entry(self, *, with_files: bool = False) -> ModelEntry:
        """Return it as catalogs list it, with the size of what would be fetched."""
        chosen = choose(self.files)
        eyes = choose_projector(self.files) if "vision" in self.roles else None
        size = sum(one.size_bytes for one in parts_of(self.files, chosen)) if chosen else 0
        return ModelEntry(
            ref=self.repo,
            source="hub",
            roles=self.roles,
            size_bytes=size + (eyes.size_bytes if eyes else 0),
            quantization=quantization_of(chosen.name) if chosen else "",
            context_tokens=self.context_tokens,
            license=self.license,
            downloads=self.downloads,
            gated=self.gated,
            summary=self.architecture,
            files=self.files if with_files else (),
        )


class Hub:
    """Asks the hub. Opens connections on first use; threads may share it.

    Args:
        url: Where it is.
        token: Opens models that ask for an account.
        clock: Waits between tries.
        folder: Where a user may put files by hand, for hints.
    """

    def __init__(self, url: str, *, token: str = "", clock: Clock, folder: str = "") -> None:
        self._url = url.rstrip("/")
        self._token = token
        self._clock = clock
        self._folder = folder
        self._client: httpx.Client | None = None

    @property
    def url(self) -> str:
        """Where the hub is."""
        return self._url

    @property
    def clock(self) -> Clock:
        """What waits between tries."""
        return self._clock

    def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def search(self, words: str, *, role: str | None = None, limit: int = 20) -> tuple[HubModel, ...]:
        """Return models in GGUF format by words, the most fetched first.

        Raises:
            HubError: If the hub cannot be asked.
        """
        # The task is filtered here: one role is several tasks, and many conversions name none.
        asked = {
            "filter": "gguf",
            "sort": "downloads",
            "direction": "-1",
            "limit": str(min(100, limit * 3)),
            "full": "true",
        }
        found = self._json("/api/models", {**asked, "search": words} if words else asked)
        if not isinstance(found, list):
            raise self._strange("/api/models", "it is no list")
        models = [_model(table) for one in cast("Sequence[object]", found) if (table := _table(one))]
        fitting = [one for one in models if role is None or role in one.roles or (not one.task and role == "chat")]
        return tuple(fitting[:limit])

    def model(self, repo: str, revision: str = "main") -> HubModel:
        """Return a repository with its model files.

        Raises:
            ModelNotFound: If there is none.
            HubError: If the hub cannot be asked, or does not show it.
        """
        suffix = "" if revision == "main" else f"/revision/{quote(revision, safe='')}"
        found = self._json(f"/api/models/{quote(repo)}{suffix}", {"blobs": "true"}, repo=repo)
        if not isinstance(found, dict):
            raise self._strange(repo, "it is no object")
        return replace(_model(cast("Mapping[str, Any]", found)), repo=repo)

    def pick(self, ref: HubRef, model: HubModel) -> ModelFile:
        """Return the file of a repository that a reference names.

        Raises:
            ModelNotFound: If it has no such file; the hint names what it has.
        """
        by_name = {one.name: one for one in model.files}
        found = by_name.get(ref.file) if ref.file else choose(model.files, ref.quantization)
        if found is not None:
            return found
        names = [one.name for one in model.files if not is_projector(one.name)]
        if not names:
            raise ModelNotFound(
                f"{ref.repo} has no file in GGUF format", hint="Look for a conversion: `lilbee model catalog WORDS`."
            )
        wanted = ref.file or ref.quantization
        near = difflib.get_close_matches(wanted, names, n=3, cutoff=0.3) or names[:3]
        raise ModelNotFound(f"{ref.repo} has no {wanted}", hint=f"It has {', '.join(near)}.")

    def address(self, model: HubModel, file: ModelFile) -> str:
        """Return where a file is fetched from."""
        return f"{self._url}/{quote(model.repo)}/resolve/{quote(model.revision, safe='')}/{quote(file.name)}"

    # ------------------------------------------------------------------ requests

    def client(self) -> httpx.Client:
        """Return the connections, opened on first use."""
        if self._client is None:
            import httpx

            headers = {"User-Agent": "lilbee", "Accept-Encoding": "identity"}
            if self._token:
                headers["Authorization"] = f"Bearer {self._token}"
            limits = httpx.Timeout(_READ_S, connect=_CONNECT_S)
            self._client = httpx.Client(headers=headers, timeout=limits, follow_redirects=True)
        return self._client

    def _json(self, path: str, parameters: Mapping[str, str], *, repo: str = "") -> object:
        import httpx

        for at in range(_TRIES):
            try:
                response = self.client().get(f"{self._url}{path}", params=dict(parameters))
            except httpx.TransportError as error:
                # Who is not connected need not wait to be told so.
                if at + 1 == _TRIES or isinstance(error, httpx.ConnectError):
                    raise self.unreachable(error) from error
                self._clock.sleep(wait_s(at))
                continue
            if response.status_code in _BUSY and at + 1 < _TRIES:
                self._clock.sleep(wait_s(at, response.headers.get("Retry-After", ""), self._clock))
                continue
            self.check(response.status_code, repo)
            try:
                return response.json()
            except ValueError as error:
                raise self._strange(repo or path, "it is no JSON") from error
        raise self.unreachable(None)

    def check(self, status: int, repo: str) -> None:
        """Make sure that an answer is one.

        Raises:
            ModelNotFound: If there is no such model.
            HubError: If the hub does not show it, or is in trouble.
        """
        if status < 400:
            return
        if status in {401, 403}:
            hint = (
                f"Accept its terms at {self._url}/{repo}, and set hub_token to a token of your account."
                if repo
                else "Set hub_token to a token of your account, or leave it out if it is no longer good."
            )
            raise HubError(
                f"{self._url} does not show {repo or 'its models'} ({status})", hint=hint, code="provider.hub_denied"
            )
        if status == 404:
            raise ModelNotFound(
                f"{self._url} has no {repo or 'such page'}", hint="Look for it: `lilbee model catalog WORDS`."
            )
        raise HubError(f"{self._url} answers {status}", hint="Try again later; what was fetched is kept.")

    def unreachable(self, error: Exception | None) -> HubError:
        """Return the error for a hub that is not there."""
        why = f": {error}" if error is not None and str(error) else ""
        put = f", or put the file into {self._folder} yourself" if self._folder else ""
        return HubError(
            f"{self._url} cannot be reached{why}",
            hint=f"Check the connection{put}. Models that are here keep working; hub_url names a mirror.",
        )

    def _strange(self, what: str, why: str) -> HubError:
        return HubError(
            f"{self._url} gives no answer about {what} that makes sense: {why}",
            hint="Check hub_url, and whether a network asks you to sign in first.",
        )


def wait_s(at: int, told: str = "", clock: Clock | None = None) -> float:
    """Return how long to wait before the next try: as told, else longer each time."""
    asked: float = _FIRST_WAIT_S * 2**at
    if told.strip().isdigit():
        asked = float(told)
    elif told and clock is not None:
        with contextlib.suppress(ValueError, TypeError):
            asked = (parsedate_to_datetime(told) - clock.now()).total_seconds()
    return min(max(asked, 0.0), _LONGEST_WAIT_S)


def _model(raw: Mapping[str, Any]) -> HubModel:
    card, gguf = raw.get("cardData"), raw.get("gguf")
    tags = tuple(str(one) for one in _listed(raw.get("tags")))
    licensed = next((tag.removeprefix("license:") for tag in tags if tag.startswith("license:")), "")
    facts = _table(gguf)
    return HubModel(
        repo=str(raw.get("id") or raw.get("modelId") or ""),
        revision=str(raw.get("sha") or "main"),
        task=str(raw.get("pipeline_tag") or ""),
        tags=tags,
        license=licensed or str(_table(card).get("license", "")),
        downloads=_number(raw.get("downloads")),
        gated=bool(raw.get("gated")),
        architecture=str(facts.get("architecture") or ""),
        context_tokens=_number(facts.get("context_length")),
        files=tuple(file for one in _listed(raw.get("siblings")) if (file := _file(one)) is not None),
    )


def _file(raw: object) -> ModelFile | None:
    if not isinstance(raw, dict):
        return None
    entry = cast("Mapping[str, Any]", raw)
    name = str(entry.get("rfilename") or "")
    if not is_safe(name):
        return None
    large = entry.get("lfs")
    stored = _table(large)
    digest = str(stored.get("sha256") or stored.get("oid") or "").removeprefix("sha256:").lower()
    return ModelFile(
        name=name,
        size_bytes=_number(stored.get("size") or entry.get("size")),
        sha256=digest if len(digest) == 64 else "",
    )


def _table(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _listed(value: object) -> Sequence[object]:
    return cast("Sequence[object]", value) if isinstance(value, list) else ()


def _number(value: object) -> int:
    return int(value) if isinstance(value, int | float) else 0
