"""The OpenAPI document: what the framework knows of requests, what routes say of their answers, and problems."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from litestar import Litestar
from litestar.routes import HTTPRoute

from lilbee_server.bodies import Body
from lilbee_server.describe._hints import Schema
from lilbee_server.describe._shapes import Shapes

EVENTS = "events"
"""What a route that streams server-sent events says that it gives."""
JOB = "lilbee_core.jobs:JobRecord"
"""What a route that starts or shows a job says that it gives."""
FILE = "file"
BYTES = "bytes"
"""What a route that gives a file of text says that it gives."""
_OPEN = "/api/health"
_PROBLEMS = {
    "400": "The request makes no sense",
    "401": "The token is missing or wrong",
    "403": "The token, or a setting of the server, does not allow it",
    "404": "What was named is not there",
    "409": "It cannot be done now",
    "413": "The body is too large",
    "429": "Too much at once: try again after `Retry-After` seconds",
    "default": "Something else went wrong",
}
_PROBLEM: Schema = {
    "type": "object",
    "description": "What went wrong: `code` is stable, `hint` says what to do next.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("code", "message", "hint")},
            "required": ["code", "message", "hint"],
        }
    },
    "required": ["error"],
}
_EVENT: Schema = {
    "type": "object",
    "description": "Each event of the stream. `data` is JSON; `id` says where to go on, as `Last-Event-ID`.",
    "properties": {name: {"type": "string"} for name in ("id", "event", "data")},
}
_OPENAI_PROBLEM: Schema = {
    "type": "object",
    "description": "What went wrong, as clients of OpenAI expect it.",
    "properties": {
        "error": {
            "type": "object",
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": "string"},
            },
            "required": ["message", "type", "param", "code"],
        }
    },
    "required": ["error"],
}


@dataclass(frozen=True, slots=True)
class Streams:
    """What a route says that gives something whole, or as a stream of events where the request asks for that."""

    whole: Any


def described(app: Litestar, document: dict[str, Any]) -> dict[str, Any]:
    """Return the document that the framework made, with answers, problems, names and the token put in."""
    shapes = Shapes()
    paths: dict[str, Any] = {}
    for path, method, handler in _handlers(app):
        operation = document["paths"].get(path, {}).get(method)
        if operation is not None:
            paths.setdefault(path, {})[method] = _operation(operation, path, method, handler, shapes)
    schemas = {**document.get("components", {}).get("schemas", {}), **shapes.components}
    for body in _bodies():
        if body.__name__ in schemas:
            schemas[body.__name__] = {**schemas[body.__name__], "additionalProperties": False}
    schemas |= {"Problem": _PROBLEM, "OpenAIProblem": _OPENAI_PROBLEM}
    bearer = {"type": "http", "scheme": "bearer", "description": "The token of server.json, or one of your own."}
    return {
        **document,
        "info": {**document["info"], "description": "A library of documents: search, answers, conversations, jobs."},
        "paths": paths,
        "security": [{"token": []}],
        "tags": [{"name": name} for name in dict.fromkeys(_tag(path) for path in paths)],
        "components": {"schemas": schemas, "securitySchemes": {"token": bearer}},
    }


def _bodies(kind: type[Body] = Body) -> Iterator[type[Body]]:
    for one in kind.__subclasses__():
        yield one
        yield from _bodies(one)


def _handlers(app: Litestar) -> Iterator[tuple[str, str, Any]]:
    for route in app.routes:
        if isinstance(route, HTTPRoute):
            for handler in route.route_handlers:
                for method in sorted(handler.http_methods - {"OPTIONS", "HEAD"}):
                    yield route.path_format, method.lower(), handler


def _operation(told: dict[str, Any], path: str, method: str, handler: Any, shapes: Shapes) -> dict[str, Any]:
    status, (known,) = str(handler.status_code), [one for one in told["responses"].items() if one[0][0] == "2"]
    answer = {**known[1], "description": "Done"}
    form = handler.opt.get("gives")
    if form is not None:
        answer["content"] = _content(form, shapes)
    problem = "OpenAIProblem" if path.startswith("/v1") else "Problem"
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{problem}"}}}
    problems = {code: {"description": said, "content": content} for code, said in _PROBLEMS.items()}
    summary, _, more = (_function(handler).__doc__ or "").strip().partition("\n\n")
    operation = {
        **told,
        "operationId": _operation_id(path, method),
        "summary": " ".join(summary.split()),
        "tags": [_tag(path)],
        "responses": {status: answer, **problems},
    }
    if "parameters" in told:
        operation["parameters"] = [_parameter(one) for one in told["parameters"]]
    if more:
        operation["description"] = "\n".join(line.strip() for line in more.splitlines())
    if path == _OPEN:
        operation["security"] = []
    if "takes" in handler.opt:
        body = {"schema": {"type": "string", "format": "binary"}}
        operation["requestBody"] = {
            "required": True,
            "description": handler.opt["takes"],
            "content": {"application/octet-stream": body},
        }
    return operation


def _parameter(told: Schema) -> Schema:
    """Return a parameter without null, which an address cannot say: one that may be None may be left out."""
    schema = told.get("schema", {})
    kinds = [one for one in schema.get("oneOf", ()) if one != {"type": "null"}]
    if len(kinds) != 1:
        return told
    rest = {name: value for name, value in schema.items() if name != "oneOf"}
    return {**told, "schema": {**rest, **kinds[0]}}


def _function(handler: Any) -> Any:
    """Return the function of a route, which is wrapped once or twice where it runs in a thread."""
    function = handler.fn
    while hasattr(function, "func"):
        function = function.func
    return function


def _content(form: Any, shapes: Shapes) -> dict[str, Any]:
    """Return what an answer holds, by media type."""
    if form == EVENTS:
        return {"text/event-stream": {"schema": _EVENT}}
    if form == FILE:
        return {"text/markdown": {"schema": {"type": "string"}}, "application/json": {"schema": {"type": "object"}}}
    if form == BYTES:
        binary = {"schema": {"type": "string", "format": "binary"}}
        return dict.fromkeys(("application/octet-stream", "image/png", "image/jpeg"), binary)
    if isinstance(form, Streams):
        return {**_content(form.whole, shapes), **_content(EVENTS, shapes)}
    return {"application/json": {"schema": shapes.of(form)}}


def _operation_id(path: str, method: str) -> str:
    """Return a name that is its own for each route: ``post_conversations_ref_send``."""
    parts = [part.strip("{}").partition(":")[0] for part in path.split("/") if part not in ("", "api")]
    return "_".join([method, *parts]).replace("-", "_")


def _tag(path: str) -> str:
    parts = [part for part in path.split("/") if part]
    return "openai" if parts[0] == "v1" else parts[min(1, len(parts) - 1)]
