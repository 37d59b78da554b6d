"""`Models`: which are here, which are known to be good, and how to get or get rid of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lilbee_core.arguments import checked
from lilbee_core.errors import InvalidArgument, ModelFileError
from lilbee_core.events import EventSink, Progress, ignore
from lilbee_core.models._catalog import featured
from lilbee_core.models._download import Download
from lilbee_core.models._facts import read_facts
from lilbee_core.models._folder import ModelFolder
from lilbee_core.models._hub import Hub, HubModel
from lilbee_core.models._names import HubRef, choose_projector, parts_of, role_of
from lilbee_core.protocols import CancelToken, Clock
from lilbee_core.types import ModelEntry, ModelFile

_REMOTE = frozenset({"ollama", "lmstudio", "openai", "litellm"})
_STEP_S = 0.2


@checked
class Models:
    """The models of this machine, and the hub they come from. Threads may share it.

    Models of servers (``ollama/…``, ``openai/…``) can be used but are not managed here.

    Args:
        folder: Where the files are.
        hub: Where more of them are.
        in_use: Asks the settings which role has which model.
        served: Asks the servers on this machine which models they have.
        events: Gets the progress of a download.
    """

    def __init__(
        self,
        folder: ModelFolder,
        hub: Hub,
        *,
        in_use: Callable[[], Mapping[str, str]] | None = None,
        served: Callable[[], Iterable[str]] | None = None,
        events: EventSink = ignore,
    ) -> None:
        self._folder = folder
        self._hub = hub
        self._in_use: Callable[[], Mapping[str, str]] = in_use or dict[str, str]
        self._served: Callable[[], Iterable[str]] = served or tuple[str, ...]
        self._events = events

    @property
    def folder(self) -> Path:
        """The folder of model files."""
        return self._folder.folder

    def close(self) -> None:
        """Close connections to the hub."""
        self._hub.close()

    def list(self, task: str | None = None) -> tuple[ModelEntry, ...]:
        """Return the models that are on this machine: built in, in packages, in the folder, and of servers that run.

        Args:
            task: Only those that can serve this role: chat, embedding, reranker or vision.

        Raises:
            InvalidArgument: If there is no such role.
        """
        role = role_of(task) if task else None
        used = self._used()
        return tuple(
            replace(one, in_use=used.get(one.ref, ()))
            for one in (*self._folder.entries(), *map(_of_server, self._served()))
            if role is None or role in one.roles
        )

    def catalog(self, words: str = "", *, task: str | None = None, limit: int = 20) -> tuple[ModelEntry, ...]:
        """Return models that could be fetched: picks that are known to do well, or what the hub finds by words.

        Raises:
            InvalidArgument: If there is no such role.
            HubError: If words are given and the hub cannot be asked.
        """
        role = role_of(task) if task else None
        if words.strip():
            found = tuple(one.entry() for one in self._hub.search(words.strip(), role=role, limit=limit))
        else:
            found = featured().of(role)[:limit]
        here = self._here()
        return tuple(replace(one, installed=one.ref in here) for one in found)

    def show(self, ref: str) -> ModelEntry:
        """Return a model with all that is known of it: what its file says, or which files the hub offers.

        Raises:
            ModelNotFound: If it is neither here nor on the hub.
            HubError: If it is not here and the hub cannot be asked.
        """
        _check_local(ref, "shown")
        entry = self._folder.get(ref)
        if entry is None and ref.lower().endswith(".gguf") and ref.count("/") != 2:
            self._folder.require(ref)
        if entry is None:
            named = HubRef.parse(ref)
            return self._hub.model(named.repo).entry(with_files=True)
        facts = read_facts(entry.path) if entry.path is not None and not entry.problem else None
        return replace(entry, facts=facts, in_use=self._used().get(ref, ()))

    def find(self, ref: str) -> Path | None:
        """Return the file of a reference if it is on this machine."""
        return self._folder.find(ref)

    def pull(self, ref: str, *, cancel: CancelToken | None = None) -> ModelEntry:
        """Fetch a model from the hub.

        `ref` is ``owner/repository``, ``owner/repository:Q4_K_M`` or ``owner/repository/file.gguf``. The projector of a
        vision model comes along. What was fetched of a file when it was stopped is kept.

        Raises:
            InvalidArgument: If `ref` names no model of the hub.
            ModelNotFound: If the hub has no such model or file.
            HubError: If it cannot be had.
            Cancelled: If it was cancelled.
        """
        _check_local(ref, "fetched")
        named = HubRef.parse(ref)
        if not named.file and not named.quantization:
            named = replace(named, quantization=featured().quantization(named.repo))
        model = self._hub.model(named.repo)
        chosen = self._hub.pick(named, model)
        eyes = choose_projector(model.files)
        place = self.folder / model.repo
        wanted = [(file, place / file.name) for file in parts_of(model.files, chosen)]
        if eyes is not None:
            # Beside its model, wherever the repository keeps it.
            wanted.append((eyes, (place / chosen.name).with_name(Path(eyes.name).name)))
        self._fetch(model, wanted, cancel)
        entry = self.show(f"{model.repo}/{chosen.name}")
        if entry.problem:
            for _, target in wanted:
                target.unlink(missing_ok=True)
            raise ModelFileError(
                entry.problem, hint="What was fetched is no model that can be used: choose another file."
            )
        return entry

    def remove(self, ref: str) -> tuple[ModelEntry, int]:
        """Delete a model that was fetched.

        Returns its entry, with the roles that had it, and how many bytes are free now.

        Raises:
            ModelNotFound: If it is not here.
            InvalidArgument: If it is not ours to delete.
        """
        _check_local(ref, "deleted")
        entry, freed = self._folder.remove(ref)
        return replace(entry, installed=False, in_use=self._used().get(ref, ())), freed

    # ------------------------------------------------------------------ inside

    def _fetch(self, model: HubModel, files: Sequence[tuple[ModelFile, Path]], cancel: CancelToken | None) -> None:
        told = _Telling(self._events, self._hub.clock, sum(one.size_bytes for one, _ in files) or None)
        for file, target in files:
            Download(self._hub, model, file, target).run(cancel=cancel, on_bytes=told)
            told.file_is_here(target.stat().st_size)

    def _used(self) -> Mapping[str, tuple[str, ...]]:
        found: dict[str, tuple[str, ...]] = {}
        for role, ref in self._in_use().items():
            found[ref] = (*found.get(ref, ()), role)
        return found

    def _here(self) -> frozenset[str]:
        """Return the repositories of which a file is here."""
        return frozenset("/".join(ref.split("/")[:2]) for ref in self._folder.fetched())


class _Telling:
    """Tells how far a download is, a few times a second."""

    def __init__(self, events: EventSink, clock: Clock, total: int | None) -> None:
        self._events = events
        self._clock = clock
        self._total = total
        self._before = 0
        self._next = 0.0

    def file_is_here(self, size: int) -> None:
        """End a file."""
        self._before += size
        self._tell(self._before)

    def __call__(self, done: int) -> None:
        now = self._clock.monotonic()
        if now >= self._next:
            self._next = now + _STEP_S
            self._tell(self._before + done)

    def _tell(self, done: int) -> None:
        self._events(Progress(phase="downloading", done=done, total=self._total, unit="bytes"))


def _of_server(ref: str) -> ModelEntry:
    """Return the entry of a model that a server has; of what it can do, only its name tells."""
    role = "embed" if "embed" in ref.lower() else "chat"
    return ModelEntry(ref=ref, source="server", roles=(role,), installed=True, package=ref.partition("/")[0])


def _check_local(ref: str, what: str) -> None:
    provider = ref.partition("/")[0].lower()
    if provider in _REMOTE and not ref.lower().endswith(".gguf"):
        raise InvalidArgument(
            f"{ref} is a model of a server and is not {what} here",
            hint="Use that server's own commands; lilbee only asks it.",
        )
