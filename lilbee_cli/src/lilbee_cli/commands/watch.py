"""`lilbee watch`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lilbee_cli.codes import OK
from lilbee_cli.options import Common, common
from lilbee_cli.render.watching import WatchSink

if TYPE_CHECKING:
    from lilbee_core.jobs import Job, JobRecord

_PATIENCE_S = 0.5


@click.command("watch")
@click.argument("collections", nargs=-1)
@common
def command(told: Common, collections: tuple[str, ...]) -> int:
    """Read what is new or changed now, and from then on as it happens, until Ctrl-C. COLLECTIONS limits it to these.

    With --json each event is a line of its own.
    """
    from lilbee_core.allocator import give_memory_back

    give_memory_back()
    sink = WatchSink(as_json=told.as_json, quiet=told.quiet, verbose=told.verbose)
    with told.open(sink, there=True) as bee:
        job = bee.watch(collections=collections)
        sink.on_closed(job.cancel)
        try:
            record = _over(job)
        except KeyboardInterrupt:
            job.cancel()
            _over(job)
            raise
        _raise_failure(record)
    return OK


def _over(job: Job) -> JobRecord:
    # In slices: a wait without an end cannot be interrupted everywhere.
    while not (record := job.wait(_PATIENCE_S)).state.is_over:
        continue
    return record


def _raise_failure(record: JobRecord) -> None:
    from lilbee_core.errors import LilbeeError

    if record.error is not None:
        error = {name: str(value) for name, value in record.error.items()}
        raise LilbeeError(error.get("message", ""), hint=error.get("hint", ""), code=error.get("code", "job.failed"))
