"""Files of other machines: kept in a collection of their own, and indexed."""

from __future__ import annotations

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from litestar import Request, delete, put
from litestar.datastructures import State
from litestar.params import PathParameter

from lilbee_core import Lilbee
from lilbee_core.errors import InvalidArgument
from lilbee_server.describe import JOB
from lilbee_server.library import library_of
from lilbee_server.problems import TooLarge

Name = Annotated[str, PathParameter(description="The file's name, with its ending.")]


@put("/api/uploads/{name:str}", status_code=202, request_max_body_size=None, opt={"gives": JOB, "takes": "any file"})
async def upload(request: Request[Any, Any, Any], state: State, name: Name) -> dict[str, Any]:
    """Keep the body as a file and start to index it; return the job. A file of the same name is replaced."""
    bee = library_of(state)
    bee.data_dir.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix=".upload-", dir=bee.data_dir) as folder:
        part = Path(folder) / "part"
        await _receive(request, part, most_bytes=bee.settings.server.upload_max_mb * 1_000_000)
        return await asyncio.to_thread(_keep, bee, part, name)


@delete("/api/uploads/{name:str}", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def remove(state: State, name: Name) -> dict[str, Any]:
    """Delete a file that was uploaded, and start to take it out of the index; return the job."""
    bee = library_of(state)
    return bee.jobs.start("sync", collections=[bee.collections.remove_upload(name)], prune=True).to_dict()


async def _receive(request: Request[Any, Any, Any], part: Path, *, most_bytes: int) -> None:
    received = 0
    with part.open("wb") as out:
        async for piece in request.stream():
            received += len(piece)
            if received > most_bytes:
                raise TooLarge(
                    f"the file is larger than {most_bytes // 1_000_000} MB",
                    hint="Add it where the server runs, or raise upload_max_mb there.",
                )
            await asyncio.to_thread(out.write, piece)
    if not received:
        raise InvalidArgument("the file is empty", hint="Send the file as the body: curl -T FILE.")


def _keep(bee: Lilbee, part: Path, name: str) -> dict[str, Any]:
    return bee.jobs.start("add", paths=[bee.collections.upload(part, name)]).to_dict()
