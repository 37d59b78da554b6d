"""The list of conversations, what can be done to one as a whole, and what the chat model was sent in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from litestar import Request, Response, get, post
from litestar.datastructures import State
from litestar.params import PathParameter, QueryParameter

from lilbee_core.errors import NotFound
from lilbee_core.tokens import Grant
from lilbee_server import talking
from lilbee_server.grants import Granted
from lilbee_server.library import library_of, replies_of
from lilbee_server.problems import Forbidden
from lilbee_server.web.forms import FORM, Filled
from lilbee_server.web.shown.talk import PATH, listed, title_of
from lilbee_server.web.views import HEADERS, redirect, render

if TYPE_CHECKING:
    from lilbee_core.conversations import Conversation
    from lilbee_core.types import AssembledRequest

LISTED = 60
Id = Annotated[str, PathParameter()]
Req = Request[Any, Any, Any]


def talks(state: State, find: str = "") -> dict[str, Any]:
    """Return the conversations for the list beside the page, the latest first, and how many more there are."""
    replies = replies_of(state)
    infos, unseen = library_of(state).conversations.list(find), set(replies.unseen())
    shown = [listed(one, running=replies.is_running(one.id), unseen=one.id in unseen) for one in infos[:LISTED]]
    return {"talks": shown, "more_talks": max(0, len(infos) - LISTED)}


@get(f"{PATH}/list", sync_to_thread=True)
def find(request: Req, state: State, words: Annotated[str, QueryParameter(name="find")] = "") -> Response[str]:
    """List the conversations whose titles hold some words."""
    return render(request, "talks.html", id="", find=words, **talks(state, words))


@get(f"{PATH}/news", sync_to_thread=True)
def news(state: State, here: Annotated[str, QueryParameter()] = "") -> Response[dict[str, Any]]:
    """Tell of replies that have ended since they were looked at; open pages ask for it every ten seconds.

    What is shown `here`, on the page that asks, is no news.
    """
    replies, library = replies_of(state), library_of(state)
    shown = here.removeprefix(f"{PATH}/")
    fresh = [library.conversations.get(one) for one in replies.news(besides=shown)]
    told = [{"title": title_of(one.info), "url": f"{PATH}/{one.id}"} for one in fresh if one is not None]
    unseen = [one for one in replies.unseen() if one != shown]
    return Response({"unseen": len(unseen), "news": told}, headers=HEADERS)


@post(f"{PATH}/{{id:str}}/title", dependencies=FORM, sync_to_thread=True)
def rename(request: Req, state: State, id: Id, form: Filled) -> Response[str]:  # noqa: A002 - its name in the address
    """Give a conversation another title."""
    found = _require(state, id)
    found.rename(form["title"])
    return redirect(request, f"{PATH}/{found.id}")


@post(f"{PATH}/{{id:str}}/scope", dependencies=FORM, sync_to_thread=True)
def look_in(request: Req, state: State, id: Id, form: Filled) -> Response[str]:  # noqa: A002
    """Choose what a conversation searches from now on."""
    found = _require(state, id)
    found.set_scope(scope=form["scope"] or None, collections=form.several("collection"))
    return redirect(request, f"{PATH}/{found.id}")


@get(f"{PATH}/{{id:str}}/delete", sync_to_thread=True)
def ask_delete(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """Ask whether a conversation is to be deleted."""
    info = _require(state, id).info
    return render(request, "conversation_delete.html", id=info.id, title=title_of(info), messages=info.messages)


@post(f"{PATH}/{{id:str}}/delete", sync_to_thread=True)
def delete(request: Req, state: State, id: Id) -> Response[str]:  # noqa: A002
    """Delete a conversation. A reply that is being written ends."""
    replies, found = replies_of(state), _require(state, id)
    written = replies.get(found.id)
    if written is not None:
        written.generation.stop()
        written.seen = True
    talking.delete(library_of(state), replies, found)
    return redirect(request, PATH)


@get(f"{PATH}/{{id:str}}/export", sync_to_thread=True)
def export(state: State, id: Id, form: Annotated[str, QueryParameter(name="format")] = "markdown") -> Response[bytes]:  # noqa: A002
    """Give the transcript as a file."""
    made = talking.exported(_require(state, id), form)
    return Response(made.body, media_type=made.media_type, headers={**HEADERS, **made.headers})


@get(f"{PATH}/{{id:str}}/request", sync_to_thread=True)
def request_of(
    request: Req,
    state: State,
    grant: Granted,
    id: Id,  # noqa: A002
    message: Annotated[str, QueryParameter()] = "",
) -> Response[str]:
    """Show exactly what the chat model was sent for the last reply, or would be for a message."""
    _only_owner(grant)
    found = _require(state, id)
    requests: tuple[AssembledRequest, ...]
    if message.strip():
        made = found.preview(message)
        requests, about = (
            (made,) if made is not None else (),
            "It would not be asked: nothing was found, or there is none.",
        )
    else:
        written = replies_of(state).get(found.id)
        requests = written.talk.requests if written is not None else ()
        about = "It was not asked for the last reply, or the server was started anew since. Try a message above."
    return render(
        request, "conversation_request.html", id=found.id, title=title_of(found.info), message=message,
        requests=requests, about=about,
    )  # fmt: skip


def _require(state: State, id_: str) -> Conversation:
    found = talking.require(library_of(state), replies_of(state), id_)
    if not found.info.created_at:
        raise NotFound("this conversation has no message yet", hint="Send one.")
    return found


def _only_owner(grant: Grant) -> None:
    if grant.read_only or grant.collections is not None:
        raise Forbidden("only the owner sees what the chat model is sent", hint="Sign in.")


ROUTES = (find, news, rename, look_in, ask_delete, delete, export, request_of)
