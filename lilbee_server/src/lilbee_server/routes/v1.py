"""What clients of OpenAI's interface call: models, chat, vectors, relevance."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, Router, get, post
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.params import JSONBody, PathParameter
from litestar.response import ServerSentEvent

from lilbee_core import Lilbee, LilbeeError
from lilbee_core.errors import InvalidArgument, ModelNotFound
from lilbee_core.tokens import Grant
from lilbee_server.describe import Streams
from lilbee_server.generation import Generation
from lilbee_server.grants import Granted
from lilbee_server.library import library_of, turns_of
from lilbee_server.openai.bodies import ChatCompletion, Embeddings, Rerank
from lilbee_server.openai.errors import NoTools, bug, http_error, lilbee_error, too_deep
from lilbee_server.openai.forms import COMPLETION, LISTED, MODEL, ORDER, VECTORS
from lilbee_server.openai.replies import Completion, streamed, vectors_reply, whole
from lilbee_server.openai.requests import documents_of, messages_of, options_of, texts_of
from lilbee_server.streams import HEARTBEAT_S, PATIENCE_S

ANSWERING = "lilbee"


@get("/models", sync_to_thread=True, opt={"scoped": True, "gives": LISTED})
def models(state: State, grant: Granted) -> dict[str, Any]:
    """Return the models that can be asked. `lilbee` answers from the documents, `lilbee:NAME` from one collection."""
    return {"object": "list", "data": _models(library_of(state), grant)}


@get("/models/{name:path}", sync_to_thread=True, opt={"scoped": True, "gives": MODEL})
def model(state: State, grant: Granted, name: Annotated[str, PathParameter(description="Its id.")]) -> dict[str, Any]:
    """Return one model."""
    wanted = name.removeprefix("/")
    for one in _models(library_of(state), grant):
        if one["id"] == wanted:
            return one
    raise ModelNotFound(f"there is no model {wanted!r}", hint="GET /v1/models lists them.")


@post("/chat/completions", status_code=200, opt={"scoped": True, "reads": True, "gives": Streams(COMPLETION)})
async def chat(state: State, grant: Granted, data: JSONBody[ChatCompletion]) -> Response[Any]:
    """Go on with a conversation, whole or as a stream.

    The model `lilbee` answers the last message from the documents, every statement cited; under `lilbee` the reply
    tells the citations. The other chat models get the messages as they are, and may call tools.
    """
    completion = Completion(model=data.model, asked=messages_of(data), grant=grant)
    generation = await _begun(state, grant, data, completion)
    if not data.stream:
        return Response(await whole(generation, completion))
    with_usage = bool(data.stream_options and data.stream_options.include_usage)
    return ServerSentEvent(streamed(generation, completion, with_usage=with_usage, heartbeat_s=HEARTBEAT_S))


@post("/embeddings", status_code=200, sync_to_thread=True, opt={"scoped": True, "reads": True, "gives": VECTORS})
def embeddings(state: State, data: JSONBody[Embeddings]) -> dict[str, Any]:
    """Make a vector of each text, with the library's embedding model."""
    inference, texts = library_of(state).inference, texts_of(data)
    vectors = inference.embed(texts, model=data.model, queries=data.input_type == "query")
    if data.dimensions not in (None, vectors.shape[1]):
        raise InvalidArgument(
            f"the vectors have {vectors.shape[1]} dimensions, not {data.dimensions}", hint="Leave dimensions out."
        )
    name = data.model or next(one.id for one in inference.models() if one.role == "embed")
    tokens = sum(inference.count_tokens(text) for text in texts)
    return vectors_reply(vectors, model=name, as_base64=data.encoding_format == "base64", tokens=tokens)


@post("/rerank", status_code=200, sync_to_thread=True, opt={"scoped": True, "reads": True, "gives": ORDER})
def rerank(state: State, data: JSONBody[Rerank]) -> dict[str, Any]:
    """Put texts in the order of their relevance to a query, with the library's reranking model."""
    inference, texts = library_of(state).inference, documents_of(data)
    scores = inference.rerank(data.query, texts, model=data.model)
    best = sorted(enumerate(scores), key=lambda one: (-one[1], one[0]))[: data.top_n]
    results: list[dict[str, Any]] = [{"index": at, "relevance_score": score} for at, score in best]
    if data.return_documents:
        for one in results:
            one["document"] = {"text": texts[one["index"]]}
    name = data.model or next(one.id for one in inference.models() if one.role == "rerank")
    return {"object": "list", "model": name, "results": results}


async def _begun(state: State, grant: Grant, data: ChatCompletion, completion: Completion) -> Generation:
    """Begin the reply; what is wrong before its first word is raised here."""
    library, options = library_of(state), options_of(data)
    name, _, collection = data.model.partition(":")
    if name != ANSWERING:
        start = lambda: library.inference.chat(completion.asked, options, model=data.model)  # noqa: E731
    elif options.tools:
        raise NoTools(f"the model {data.model!r} calls no tools", hint="Use the chat model itself, or send no tools.")
    else:
        only = grant.filter([collection] if collection else [])
        start = lambda: library.inference.answer(completion.asked, filters=only)  # noqa: E731
    generation = await turns_of(state).generate(start)
    await generation.begun(PATIENCE_S)
    return generation


def _models(library: Lilbee, grant: Grant) -> list[dict[str, Any]]:
    found = [one.to_dict() for one in library.inference.models()]
    there = (one.name for one in library.collections.list())
    names = sorted(name for name in there if grant.collections is None or name in grant.collections)
    if len(names) > 1:
        found[1:1] = [{**found[0], "id": f"{ANSWERING}:{name}"} for name in names]
    return [{"object": "model", "created": 0, "owned_by": "lilbee", **one} for one in found]


router = Router(
    "/v1",
    route_handlers=[models, model, chat, embeddings, rerank],
    exception_handlers={
        LilbeeError: lilbee_error,
        HTTPException: http_error,
        RecursionError: too_deep,
        Exception: bug,
    },
    tags=["OpenAI"],
)
