"""JSON schemas of Python types."""

from __future__ import annotations

import enum
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import Any, Literal, NewType, Union, get_args, get_origin, get_type_hints

Schema = dict[str, Any]
ANYTHING: Schema = {}
_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
}


def hint_schema(hint: Any, named: Callable[[type], Schema]) -> Schema:
    """Return the schema of what a type looks like in JSON; `named` gives that of a class with `to_dict`."""
    if isinstance(hint, NewType):
        return hint_schema(hint.__supertype__, named)
    origin = get_origin(hint)
    if origin is not None:
        return _generic(hint, origin, named)
    return _single(hint, named) if isinstance(hint, type) else ANYTHING


def _single(kind: type, named: Callable[[type], Schema]) -> Schema:
    if kind in _PLAIN:
        return dict(_PLAIN[kind])
    if hasattr(kind, "to_dict"):
        return named(kind)
    if issubclass(kind, enum.Enum):
        return {"type": "string", "enum": [str(one) for one in kind]}
    return {"type": "string"} if issubclass(kind, PurePath) else ANYTHING


def _generic(hint: Any, origin: Any, named: Callable[[type], Schema]) -> Schema:
    arguments = get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin in (Union, types.UnionType):
        return union([hint_schema(one, named) for one in arguments])
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": hint_schema(arguments[1], named)}
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return {"type": "array", "items": hint_schema(element(hint), named)}
    return ANYTHING


def union(schemas: Iterable[Schema]) -> Schema:
    """Return the schema of a value that has one of several."""
    different: list[Schema] = []
    for one in (inner for schema in schemas for inner in schema.get("anyOf", [schema])):
        if one not in different:
            different.append(one)
    if ANYTHING in different or not different:
        return ANYTHING
    if len(different) == 1:
        return different[0]
    if all(set(one) == {"type"} for one in different):
        return {"type": [one["type"] for one in different]}
    return {"anyOf": different}


def element(hint: Any) -> Any:
    """Return the type of what a sequence, or an iterable, is made of."""
    arguments = get_args(without_none(hint))
    if not arguments:
        return object
    if get_origin(without_none(hint)) is tuple and not (len(arguments) == 2 and arguments[1] is Ellipsis):
        return Union[arguments]  # noqa: UP007 - made from values
    return arguments[0]


def without_none(hint: Any) -> Any:
    """Return what a type is where it is not None."""
    if get_origin(hint) in (Union, types.UnionType):
        there = [one for one in get_args(hint) if one is not type(None)]
        return there[0] if len(there) == 1 else hint
    return hint


def attribute(hint: Any, name: str) -> Any:
    """Return the type of an attribute, a property or what a method gives; `object` where it is not known."""
    owner = without_none(hint)
    if not isinstance(owner, type):
        return object
    found = inspect.getattr_static(owner, name, None)
    if isinstance(found, property):
        return hints_of(found.fget).get("return", object)
    if inspect.isfunction(found):
        return hints_of(found).get("return", object)
    return hints_of(owner).get(name, object)


def hints_of(what: Any) -> dict[str, Any]:
    """Return the types of a class's attributes, or of a function's parameters and result; none that do not resolve."""
    from lilbee_core import types as values

    try:
        return get_type_hints(what, localns={**vars(values), **vars(typing)})
    except (NameError, TypeError, AttributeError):
        return {}
