"""Conversations over the documents: what was said, the composer, and replies as they are written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State, UploadFile
from litestar.params import HeaderParameter, PathParameter, QueryParameter
from litestar.response import ServerSentEvent

from lilbee_core import LilbeeError
from lilbee_core.errors import NotFound
from lilbee_core.types import ConversationMessage, GivenFile
from lilbee_server import talking
from lilbee_server.library import library_of, replies_of
from lilbee_server.problems import status_of
from lilbee_server.web.forms import FORM, Filled, Form
from lilbee_server.web.pages.conversations import talks
from lilbee_server.web.shown.talk import PATH, SHOWN, Turn, Writing, searched, title_of, turns_of
from lilbee_server.web.views import HEADERS, redirect, render, wants_piece
from lilbee_server.web.writing import frames, streamed, told_of

if TYPE_CHECKING:
    from lilbee_core import Lilbee
    from lilbee_core.conversations import Conversation
    from lilbee_server.replies import Written

MOST_BYTES = 51_000_000
"""How large a message may be with what is attached to it."""
Id = Annotated[str, PathParameter()]
Last = Annotated[int | None, HeaderParameter(name="Last-Event-ID")]
Req = Request[Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Notice:
    """What went wrong, and what to do."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Divider:
    """Up to where a summary stands for what was said."""

    before: str
    summary: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What stands in the composer: the text, and what is to be attached."""

    text: str = ""
    attached: dict[str, str] = field(default_factory=lambda: {"document": "", "page": ""})

    @classmethod
    def of(cls, form: Form) -> Draft:
        return cls(form.raw("message"), {name: form[name] for name in ("document", "page")})


@get(PATH, sync_to_thread=True)
def begin(request: Req, state: State) -> Response[str]:
    """Show a composer. A conversation is kept from its first message on."""
    asked = request.query_params
    draft = Draft(asked.get("q") or "", {name: asked.get(name) or "" for name in ("document", "page")})
    return _composer(request, state, draft)


@get(f"{PATH}/{{id:str}}", sync_to_thread=True)
def show(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002 - its name in the address
    """Show a conversation."""
    return _talk(request, state, _require(state, id), everything=bool(request.query_params.get("all")))


@get(f"{PATH}/{{id:str}}/thread", sync_to_thread=True)
def thread(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """Show what was said in a conversation, when its reply has ended."""
    return _talk(request, state, _require(state, id))


# ---------------------------------------------------------------------- saying something


@post(PATH, request_max_body_size=MOST_BYTES)
async def first(request: Req, state: State) -> Response[str]:
    """Begin a conversation by its first message."""
    form, files = await _received(request)
    library, replies = library_of(state), replies_of(state)
    found: Conversation | None = None
    try:
        found = await asyncio.to_thread(
            library.conversations.create, collections=form.several("collection"), scope=form["scope"] or "raw"
        )
        await talking.send(replies, found, form.raw("message"), lambda: _attached(library, form, files))
    except LilbeeError as error:
        # Once the message is kept, its conversation is where it can be answered again.
        if found is None or not await asyncio.to_thread(lambda: found.messages):
            if wants_piece(request):
                raise
            return await asyncio.to_thread(_composer, request, state, Draft.of(form), error, form)
    return redirect(request, f"{PATH}/{found.id}")


@post(f"{PATH}/{{id:str}}/send", request_max_body_size=MOST_BYTES)
async def send(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """Send a message, or one in place of another with what followed it."""
    form, files = await _received(request)
    library = library_of(state)

    async def do(found: Conversation) -> None:
        await talking.send(
            replies_of(state),
            found,
            form.raw("message"),
            lambda: _attached(library, form, files),
            seen=_seen(form),
            again=form["again"] or None,
        )

    return await _done(request, state, id, do, form)


@post(f"{PATH}/{{id:str}}/regenerate", dependencies=FORM)
async def regenerate(request: Req, state: State, id: Id, form: Filled) -> Response[str]:  # noqa: A002
    """Have the last message answered anew."""

    async def do(found: Conversation) -> None:
        await talking.regenerate(replies_of(state), found, seen=_seen(form))

    return await _done(request, state, id, do)


@post(f"{PATH}/{{id:str}}/rewind", dependencies=FORM)
async def rewind(request: Req, state: State, id: Id, form: Filled) -> Response[str]:  # noqa: A002
    """Take a message back, with all that followed; its words come back into the composer."""
    found = await asyncio.to_thread(_require, state, id)
    try:
        gone = await talking.rewind(replies_of(state), found, form["again"], seen=_seen(form))
    except LilbeeError as error:
        return await asyncio.to_thread(_failed, request, state, found, error)
    draft = Draft(gone[0].content) if gone else Draft()
    return await asyncio.to_thread(
        lambda: _talk(request, state, found, done="Taken back, with all that followed.", draft=draft)
    )


@post(f"{PATH}/{{id:str}}/stop")
async def stop(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """End the reply that is being written; what arrived stays."""

    async def do(found: Conversation) -> None:
        await talking.stop(replies_of(state), found)

    return await _done(request, state, id, do)


@post(f"{PATH}/{{id:str}}/compact")
async def compact(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """Summarize earlier messages."""
    found = await asyncio.to_thread(_require, state, id)
    try:
        made = await talking.compact(replies_of(state), found)
    except LilbeeError as error:
        return await asyncio.to_thread(_failed, request, state, found, error)
    told = "There is nothing new to sum up." if made is None else "Earlier messages are summarized. They stay here."
    return await asyncio.to_thread(lambda: _talk(request, state, found, done=told))


@get(f"{PATH}/{{id:str}}/stream")
async def stream(request: Req, state: State, id: Id, last: Last = None) -> ServerSentEvent | Response[str]:  # noqa: A002
    """Send pictures of the reply that is being written; who was cut off goes on where it was."""
    found = await asyncio.to_thread(_require, state, id)
    written = replies_of(state).get(found.id)
    if written is None:  # the server was started anew: there is nothing to wait for
        return Response("", status_code=204, headers=HEADERS)
    pictures = frames(
        request.app.state["views"],
        written.generation,
        whole=lambda: _last_reply(found.messages),
        request=lambda: written.talk.requests[-1] if written.talk.requests else None,
        seen=last if last is not None else -1,
    )
    return streamed(pictures)


@get(f"{PATH}/documents", sync_to_thread=True)
def documents(request: Req, state: State, named: Annotated[str, QueryParameter(name="document")] = "") -> Response[str]:
    """Offer documents whose names hold what was typed."""
    sought = named.strip().casefold()
    refs: list[str] = []
    for row in library_of(state).documents(state="indexed") if sought else ():
        if sought in row.ref.casefold():
            refs.append(row.ref)
        if len(refs) == _OFFERED:
            break
    return render(request, "offers.html", refs=refs)


# ---------------------------------------------------------------------- inside

_OFFERED = 20


def _require(state: State, id_: str) -> Conversation:
    return talking.require(library_of(state), replies_of(state), id_)


def _seen(form: Form) -> str | None:
    return form["seen"] if "seen" in form.fields else None


async def _done(request: Req, state: State, id_: str, do: Any, form: Form | None = None) -> Response[str]:
    """Do something to a conversation, and show it."""
    try:
        found = await asyncio.to_thread(_require, state, id_)
    except NotFound as error:
        if form is None or wants_piece(request):
            raise
        return await asyncio.to_thread(_composer, request, state, Draft.of(form), error)
    try:
        await do(found)
    except LilbeeError as error:
        return await asyncio.to_thread(_failed, request, state, found, error, form)
    if not wants_piece(request):
        return redirect(request, f"{PATH}/{found.id}")
    return await asyncio.to_thread(_talk, request, state, found)


def _failed(
    request: Req, state: State, found: Conversation, error: LilbeeError, form: Form | None = None
) -> Response[str]:
    """Say what is wrong above the conversation as it is now; nothing that was typed is lost."""
    if wants_piece(request) and error.code != talking.CHANGED:
        raise error
    messages = found.messages
    is_kept = form is not None and bool(messages) and messages[-1].content == form.raw("message")
    draft = Draft.of(form) if form is not None and not is_kept else Draft()
    if form is not None and form["again"] and wants_piece(request):
        # It was typed within what is shown anew, while something else may stand in the composer.
        return _talk(request, state, found, error=error, kept=draft.text)
    return _talk(request, state, found, error=error, draft=draft)


async def _received(request: Req) -> tuple[Form, list[GivenFile]]:
    """Return the fields of a form, and the files that came with it."""
    fields: dict[str, list[str]] = {}
    files: list[GivenFile] = []
    for name, value in (await request.form()).multi_items():
        if isinstance(value, UploadFile):
            content = await value.read()
            if value.filename:
                files.append(GivenFile(name=value.filename, content=content))
        else:
            fields.setdefault(name, []).append(str(value).replace("\r\n", "\n"))
    return Form(fields), files


def _attached(library: Lilbee, form: Form, files: Sequence[GivenFile]) -> list[talking.Attached]:
    """Return what goes with a message: files, documents of the library, a page of the web."""
    given: list[talking.Attached] = list(files)
    given += [talking.document(library, ref) for ref in form.several("document")]
    given += [talking.page(library, url) for url in form.several("page")]
    return given


def _last_reply(messages: Sequence[ConversationMessage]) -> Turn | None:
    return turns_of(messages[-2:])[-1] if messages and messages[-1].role == "assistant" else None


def _composer(
    request: Req, state: State, draft: Draft, error: LilbeeError | None = None, form: Form | None = None
) -> Response[str]:
    """Show the page of a conversation that has not begun."""
    return render(
        request,
        "chat.html",
        status=200 if error is None else status_of(error),
        title="New conversation",
        id="",
        notice=error,
        **_blank(draft),
        **_around(request, state, "", form),
    )


def _talk(
    request: Req,
    state: State,
    found: Conversation,
    *,
    error: LilbeeError | None = None,
    done: str = "",
    kept: str = "",
    draft: Draft = Draft(),
    everything: bool = False,
) -> Response[str]:
    replies = replies_of(state)
    info, messages, written = found.info, found.messages, replies.get(found.id)
    running = written is not None and not written.generation.is_over
    replies.saw(found.id)
    if running and messages and messages[-1].role == "assistant":
        messages = messages[:-1]
    start = 0 if everything else max(0, len(messages) - SHOWN)
    summarized = found.summarized if info.compaction is not None else 0
    divided = info.compaction is not None and start <= summarized < len(messages) and summarized > 0
    values = {
        **_blank(draft),
        "turns": turns_of(messages)[start:],
        "earlier": start,
        "divider": Divider(messages[summarized].id, info.compaction.summary) if divided and info.compaction else None,
        "seen": messages[-1].id if messages else "",
        "running": running,
        "growing": _growing(written) if written is not None and running else None,
        "failed": _why(written),
        "unreadable": found.to_dict()["unreadable"],
        "searched": searched(info),
        "done": done,
        "kept": kept,
    }
    return render(
        request,
        "chat.html",
        "thread",
        status=200 if error is None else status_of(error),
        headers={"HX-Retarget": "#thread", "HX-Reswap": "innerHTML"},
        title=title_of(info) if messages else "New conversation",
        id=found.id,
        notice=error,
        **values,
        **_around(request, state, found.id, scope=info.scope, chosen=info.collections),
    )


def _blank(draft: Draft) -> dict[str, Any]:
    """Return what the template asks for, of a conversation without messages."""
    return {
        "draft": draft.text,
        "done": "",
        "kept": "",
        "attached": draft.attached,
        "turns": [],
        "earlier": 0,
        "divider": None,
        "seen": "",
        "running": False,
        "growing": None,
        "failed": None,
        "unreadable": 0,
        "searched": "",
    }


def _around(
    request: Req,
    state: State,
    id_: str,
    form: Form | None = None,
    *,
    scope: str = "raw",
    chosen: Sequence[str] = (),
) -> dict[str, Any]:
    """Return what stands beside a conversation: the others, and where one can look."""
    library = library_of(state)
    find = request.query_params.get("find") or ""
    try:
        names = [one.name for one in library.collections.list()]
    except NotFound:
        names = []
    return {
        "alone": wants_piece(request),
        "collections": names,
        "scope": (form["scope"] if form is not None else "") or scope,
        "chosen": form.several("collection") if form is not None else tuple(chosen),
        "find": find,
        **talks(state, find),
    }


def _growing(written: Written) -> Turn:
    writing = Writing()
    writing.take(written.generation.since(0))
    request = written.talk.requests[-1] if written.talk.requests else None
    return writing.turn(seconds=written.generation.seconds, request=request)


def _why(written: Written | None) -> Notice | None:
    message, hint = told_of(written.generation.error if written is not None else None)
    return Notice(message, hint) if message else None


ROUTES = (begin, documents, show, thread, first, send, regenerate, rewind, stop, compact, stream)
