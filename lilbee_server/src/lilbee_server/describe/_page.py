"""The OpenAPI document as a page that loads nothing and runs nothing: it needs no network, and no script."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from typing import Any, cast

from lilbee_server.describe._hints import Schema

STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 13px/1.45 ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .3rem .7rem; }
summary { cursor: pointer; }
summary code { font-weight: 600; }
pre { background: var(--soft); padding: .6rem; overflow-x: auto; border-radius: 4px; }
table { border-collapse: collapse; width: 100%; }
td, th { text-align: left; vertical-align: top; border-top: 1px solid var(--line); padding: .25rem .5rem .25rem 0; }
"""
POLICY = (
    "default-src 'none'; frame-ancestors 'none'; "
    f"style-src 'sha256-{base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()}'"
)
"""What a browser may load for the page: its own style, and nothing else."""


def page(document: dict[str, Any]) -> str:
    """Return the page of a document."""
    title = escape(f"{document['info']['title']} {document['info']['version']}")
    return "".join(
        [
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<style>{STYLE}</style></head><body><h1>{title}</h1>",
            f"<p>{escape(document['info'].get('description', ''))} Programs read <code>openapi.json</code>.</p>",
            *_tags(document),
            "<h2>Values</h2>",
            *(_value(name, one) for name, one in sorted(document["components"]["schemas"].items())),
            "</body></html>",
        ]
    )


def _tags(document: dict[str, Any]) -> Iterator[str]:
    for tag in document["tags"]:
        yield f"<h2>{escape(tag['name'])}</h2>"
        for path, item in document["paths"].items():
            for method, operation in item.items():
                if tag["name"] in operation["tags"]:
                    yield from _operation(path, method, operation)


def _operation(path: str, method: str, operation: dict[str, Any]) -> Iterator[str]:
    said = escape(operation["summary"])
    yield f'<details id="{operation["operationId"]}"><summary><code>{method.upper()} {escape(path)}</code> {said}'
    yield "</summary>"
    if "description" in operation:
        yield f"<p>{escape(operation['description'])}</p>"
    if operation.get("parameters"):
        yield "<h4>Parameters</h4><table>"
        for one in operation["parameters"]:
            needed = ", required" if one.get("required") else ""
            yield f"<tr><td><code>{escape(one['name'])}</code><td>{escape(one['in'])}{needed}"
            yield f"<td>{_kind(one['schema'])}<td>{escape(one.get('description', ''))}</tr>"
        yield "</table>"
    yield from _contents("Body", operation.get("requestBody", {}))
    for status, answer in operation["responses"].items():
        if status.startswith("2"):
            yield from _contents(f"Answer {status}", answer)
    yield "</details>"


def _contents(title: str, told: dict[str, Any]) -> Iterator[str]:
    for media_type, content in told.get("content", {}).items():
        yield f"<h4>{title}, <code>{escape(media_type)}</code></h4>{_shape(content['schema'])}"


def _value(name: str, schema: Schema) -> str:
    said = escape(str(schema.get("description", "")))
    return (
        f'<details id="{escape(name)}"><summary><code>{escape(name)}</code> {said}</summary>{_shape(schema)}</details>'
    )


def _shape(schema: Schema) -> str:
    properties = cast("dict[str, Schema]", schema.get("properties") or {})
    if not properties:
        return f"<p>{_kind(schema)}</p>"
    rows = [
        f"<tr><td><code>{escape(name)}</code>{'' if name in schema.get('required', ()) else ' (optional)'}"
        f"<td>{_kind(one)}<td>{escape(str(one.get('description', '')))}</tr>"
        for name, one in properties.items()
    ]
    return f"<table>{''.join(rows)}</table>"


def _kind(schema: Schema) -> str:
    """Say in a few words what a value is."""
    if "$ref" in schema:
        name = escape(schema["$ref"].rpartition("/")[2])
        return f'<a href="#{name}">{name}</a>'
    several = schema.get("anyOf") or schema.get("oneOf")
    if several:
        return " or ".join(_kind(one) for one in several)
    if "enum" in schema:
        return " | ".join(f"<code>{escape(json.dumps(one, ensure_ascii=False))}</code>" for one in schema["enum"])
    return _plain_kind(schema, schema.get("type", "anything"))


def _plain_kind(schema: Schema, kinds: str | list[str]) -> str:
    if kinds == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    if kinds == "object" and schema.get("properties"):
        return f"object{_shape(schema)}"
    if kinds == "object" and schema.get("additionalProperties"):
        return f"object of {_kind(schema['additionalProperties'])}"
    return escape(" or ".join(kinds) if isinstance(kinds, list) else str(kinds))
