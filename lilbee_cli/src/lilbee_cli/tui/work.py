"""What is done in the background: jobs of the library, and work that is none, such as fetching a model (R247)."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lilbee_core.errors import Cancelled, LilbeeError
from lilbee_core.events import Event, Progress

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.jobs import JobRecord
    from lilbee_core.library import CancelSwitch
    from lilbee_core.protocols import CancelToken

RUNNING = frozenset({"queued", "running"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Something that is done, or was."""

    id: str
    kind: str
    what: str = ""
    state: str = "running"
    phase: str = ""
    done: int = 0
    total: int | None = None
    unit: str = ""
    created_at: str = ""
    said: str = ""
    hint: str = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state not in RUNNING


class Tasks:
    """Starts, lists and cancels. Threads may share it; `over` is called, in whichever thread, when something ends."""

    def __init__(self, bee: Lilbee, over: Callable[[Task], None]) -> None:
        self._bee = bee
        self._over = over
        self._lock = threading.Lock()
        self._own: dict[str, tuple[Task, CancelSwitch]] = {}
        self._jobs: list[str] = []

    def start_job(self, kind: str, what: str = "", **options: object) -> Task:
        """Start a job of the library.

        Raises:
            InvalidArgument: If it does not take these options.
        """
        job = self._bee.jobs.start(kind, **options)
        with self._lock:
            self._jobs.append(job.id)

        def watch() -> None:
            job.wait()
            self._over(_of_job(job.record, what))

        threading.Thread(target=watch, name="lilbee-watch", daemon=True).start()
        return _of_job(job.record, what)

    def start(self, kind: str, what: str, work: Callable[[CancelToken], str]) -> Task:
        """Do something that is no job of the library; `work` returns what came of it."""
        # Only now: it comes with the whole library, for which the first picture need not wait.
        from lilbee_core.library import CancelSwitch

        task, switch = Task(id=secrets.token_hex(3), kind=kind, what=what), CancelSwitch()
        with self._lock:
            self._own[task.id] = (task, switch)
        threading.Thread(target=self._work, args=(task.id, work, switch), name=f"lilbee-{kind}", daemon=True).start()
        return task

    def running(self) -> tuple[Task, ...]:
        """Return what was started here and is not over, without reading the disk."""
        with self._lock:
            own = [task for task, _ in self._own.values() if not task.is_over]
            ids = list(self._jobs)
        jobs = [_of_job(job.record) for id_ in ids if (job := self._bee.jobs.get(id_)) is not None]
        waiting = [one for one in jobs if not one.is_over]
        with self._lock:
            self._jobs = [one.id for one in waiting]
        return (*own, *waiting)

    def list(self) -> tuple[Task, ...]:
        """Return everything that is remembered, newest first, those of other programs too."""
        with self._lock:
            own = [task for task, _ in self._own.values()]
        return (*reversed(own), *(_of_job(record) for record in self._bee.jobs.list()))

    def cancel(self, ref: str) -> Task | None:
        """End what is named by the beginning of its id; return it, None if there is no such."""
        found = next((one for one in self.list() if one.id.startswith(ref) and not one.is_over), None)
        if found is None:
            return None
        with self._lock:
            own = self._own.get(found.id)
        if own is not None:
            own[1].cancel()
        else:
            self._bee.jobs.require(found.id).cancel()
        return found

    def take(self, event: Event) -> None:
        """Take an event of the library: of what is no job only one thing is done at a time that tells how far it is."""
        if isinstance(event, Progress) and event.phase in {"downloading", "embedding"}:
            with self._lock:
                for id_, (task, switch) in self._own.items():
                    if not task.is_over:
                        told = replace(task, phase=event.phase, done=event.done, total=event.total, unit=event.unit)
                        self._own[id_] = (told, switch)

    def close(self) -> None:
        """End all that was started here and is no job; the library ends its jobs itself."""
        with self._lock:
            switches = [switch for _, switch in self._own.values()]
        for one in switches:
            one.cancel()

    def _work(self, id_: str, work: Callable[[CancelToken], str], switch: CancelSwitch) -> None:
        try:
            said, hint, state = work(switch), "", "done"
        except Cancelled:
            said, hint, state = "", "", "cancelled"
        except LilbeeError as error:
            said, hint, state = error.message, error.hint, "failed"
        except Exception as error:  # noqa: BLE001 - nobody else sees this thread
            said, hint, state = f"{type(error).__name__}: {error}", "Please report it.", "failed"
        with self._lock:
            task = replace(self._own[id_][0], state=state, said=said, hint=hint)
            self._own[id_] = (task, switch)
        self._over(task)


def _of_job(record: JobRecord, what: str = "") -> Task:
    return Task(
        id=record.id,
        kind=record.kind,
        what=what or record.subject,
        state=str(record.state),
        phase=record.phase,
        done=record.done,
        total=record.total,
        unit=record.unit,
        created_at=record.created_at,
        said=record.outcome,
        hint=record.hint,
    )
