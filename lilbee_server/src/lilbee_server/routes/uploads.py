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
from lilbee_core.errors import InvalidArgument, NotFound
from lilbee_server.describe import JOB
from lilbee_server.library import library_of
from lilbee_server.problems import TooLarge

Name = Annotated[str, PathParameter(description="The file's name, with its ending.")]


@put("/api/uploads/{name:str}", status_code=202, request_max_body_size=None, opt={"gives": JOB, "takes": "any file"})
async def upload(request: Request[Any, Any, Any], state: State, name: Name) -> dict[str, Any]:
    """Keep the body as a file and start to index it; return the job. A file of the same name is replaced."""
    bee = library_of(state)
    with TemporaryDirectory(prefix=".upload-", dir=place_to_receive(bee)) as folder:
        part = Part(Path(folder) / "part", most_bytes=most_bytes(bee))
        async for piece in request.stream():
            await asyncio.to_thread(part.write, piece)
        return await asyncio.to_thread(_keep, bee, part, name)


@delete("/api/uploads/{name:str}", status_code=202, sync_to_thread=True, opt={"gives": JOB})
def remove(state: State, name: Name) -> dict[str, Any]:
    """Delete a file that was uploaded, and start to take it out of the index; return the job."""
    bee = library_of(state)
    return bee.jobs.start("sync", collections=[bee.collections.remove_upload(name)], prune=True).to_dict()


class Part:
    """A file that is being received, in pieces; no more of it is kept than may be."""

    def __init__(self, path: Path, *, most_bytes: int) -> None:
        self.path = path
        self._most_bytes = most_bytes
        self._received = 0
        path.touch()

    def write(self, piece: bytes) -> None:
        """Keep a piece.

        Raises:
            TooLarge: If it is one too many.
        """
        self._received += len(piece)
        if self._received > self._most_bytes:
            raise TooLarge(
                f"the file is larger than {self._most_bytes // 1_000_000} MB",
                hint="Add it where the server runs, or raise upload_max_mb there.",
            )
        with self.path.open("ab") as out:
            out.write(piece)

    def require(self) -> Path:
        """Return where the file is.

        Raises:
            InvalidArgument: If nothing came.
        """
        if not self._received:
            raise InvalidArgument("the file is empty", hint="Send the file as the body: curl -T FILE.")
        return self.path


def place_to_receive(bee: Lilbee) -> Path:
    """Return the data folder, made if need be: what is received there can be moved into the library in one step.

    Raises:
        NotFound: If the library's folder was moved or deleted: none is made in its place.
    """
    try:
        bee.data_dir.mkdir(exist_ok=True)
    except FileNotFoundError as error:
        hint = "Bring the folder back, or serve the library where it is now."
        raise NotFound(f"there is no folder {bee.data_dir.parent}", hint=hint) from error
    return bee.data_dir


def most_bytes(bee: Lilbee) -> int:
    """Return how large an uploaded file may be."""
    return bee.settings.server.upload_max_mb * 1_000_000


def _keep(bee: Lilbee, part: Part, name: str) -> dict[str, Any]:
    return bee.jobs.start("add", paths=[bee.collections.upload(part.require(), name)]).to_dict()
