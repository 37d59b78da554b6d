"""Arguments of the public API, held against its own type hints: a wrong one is an error that says what to pass.

``@checked`` stands above every class that users call. It knows nothing of the classes: the hints say all there is to
check, and what they cannot say (a number above zero) stays with the methods. A name that only type checkers import is
not checked.
"""

from __future__ import annotations

import builtins
import inspect
import math
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache, wraps
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from lilbee_core.errors import InvalidArgument
from lilbee_core.types import Document, Filter, Query

C = TypeVar("C", bound=type)
T = TypeVar("T")

_VALUES = (Query, Filter, Document)
"""Values that users build: their fields are checked where they are used."""
_WORDS: Mapping[object, str] = {
    str: "a text (str)",
    int: "a whole number (int)",
    float: "a number",
    bool: "True or False",
    Path: "a path",
    type(None): "None",
}
_LONGEST = 80


class _Unchecked:
    """Stands for what the hints name and only type checkers know."""

    def __class_getitem__(cls, of: object) -> type[_Unchecked]:
        return cls


def checked(kind: C) -> C:
    """Have every public method of a class, and its constructor, refuse arguments of a wrong type.

    The methods then raise `InvalidArgument` with the value and what to pass, before they do anything.
    """
    for name, member in list(vars(kind).items()):
        if name != "__init__" and name.startswith("_"):
            continue
        if inspect.isfunction(member):
            setattr(kind, name, _checking(member))
        elif isinstance(member, classmethod):
            setattr(kind, name, classmethod(_checking(cast("Any", member).__func__)))
    return kind


def each(items: Iterable[T], kind: type[T], name: str) -> Iterator[T]:
    """Yield the items of an iterable that is read as it comes, each of the right type.

    Raises:
        InvalidArgument: At the first that is not.
    """
    for number, item in enumerate(items):
        _check(item, kind, f"{name}[{number}]")
        yield item


def _checking(function: Callable[..., Any]) -> Callable[..., Any]:
    @cache
    def known() -> tuple[inspect.Signature, Mapping[str, object]]:
        return inspect.signature(function), _hints(function, function.__globals__)

    @wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        signature, hints = known()
        try:
            given = signature.bind(*args, **options).arguments
        except TypeError:
            # A call with too much, too little or an unknown name is Python's to refuse.
            return function(*args, **options)
        for name, value in given.items():
            hint = hints.get(name, _Unchecked)
            shape = signature.parameters[name].kind
            if shape is inspect.Parameter.VAR_POSITIONAL:
                for one in value:
                    _check(one, hint, name)
            elif shape is not inspect.Parameter.VAR_KEYWORD:
                _check(value, hint, name)
        return function(*args, **options)

    return call


class _Names(dict[str, object]):
    """The names that hints may use; one that is not there is not checked."""

    def __missing__(self, name: str) -> object:
        return _Unchecked


def _hints(of: object, names: Mapping[str, object]) -> Mapping[str, object]:
    return get_type_hints(of, {}, _Names({**vars(builtins), **names}))


@cache
def _fields_of(kind: type) -> Mapping[str, object]:
    import sys

    hints = _hints(kind, vars(sys.modules[kind.__module__]))
    return {field.name: hints[field.name] for field in fields(kind)}


def _check(value: object, hint: object, name: str) -> None:
    if not _fits(value, hint):
        _check_items(value, hint, name)
        wanted = _named(hint)
        shown = repr(value)
        shown = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
        raise InvalidArgument(f"{name} must be {wanted}, got {shown}", hint=_hint(value, hint, name, wanted))
    if isinstance(value, _VALUES):
        for field, kind in _fields_of(cast("Any", type(value))).items():
            _check(getattr(value, field), kind, f"{type(value).__name__}.{field}")


def _check_items(value: object, hint: object, name: str) -> None:
    """Name the one item of a list that is wrong, if that is all that is wrong with it."""
    inner, origin = get_args(hint), get_origin(hint)
    if isinstance(value, list | tuple) and inner and isinstance(origin, type) and isinstance(value, (origin, tuple)):
        for number, one in enumerate(cast("Iterable[object]", value)):
            _check(one, inner[0], f"{name}[{number}]")


def _hint(value: object, hint: object, name: str, wanted: str) -> str:
    if isinstance(value, str) and "a list of texts" in wanted:
        return f"Put it in a list: [{value[:_LONGEST]!r}]."
    if value is None:
        return f"Leave {name} out where it has a default, or pass {wanted}."
    return f"Pass {wanted}."


def _fits(value: object, hint: object) -> bool:
    origin = get_origin(hint)
    if origin in {Union, types.UnionType}:
        return any(_fits(value, one) for one in get_args(hint))
    if origin is Literal:
        return value in get_args(hint)
    if origin is not None:
        return _fits_generic(value, origin, get_args(hint))
    if not isinstance(hint, type) or hint is _Unchecked or hint is Any:
        return True
    return _fits_type(value, hint)


def _fits_type(value: object, hint: type) -> bool:
    if hint in {int, float}:
        return _is_number(value, whole=hint is int)
    if getattr(hint, "_is_protocol", False):
        return all(hasattr(value, member) for member in _members(hint))
    return isinstance(value, PathLike if hint is Path else hint)


def _is_number(value: object, *, whole: bool) -> bool:
    if value is True or value is False:
        return False
    return isinstance(value, Integral) if whole else isinstance(value, Real) and not math.isnan(value)


def _fits_generic(value: object, origin: Any, inner: tuple[object, ...]) -> bool:
    if origin is type or not isinstance(origin, type):
        return True
    if not isinstance(value, tuple | list if origin is tuple else origin) or isinstance(value, str | bytes):
        return False
    if isinstance(value, Mapping) and len(inner) == 2:
        pairs = cast("Mapping[object, object]", value).items()
        return all(_fits(key, inner[0]) and _fits(one, inner[1]) for key, one in pairs)
    if isinstance(value, list | tuple | set | frozenset) and inner:
        return all(_fits(one, inner[0]) for one in cast("Iterable[object]", value))
    return True


@cache
def _members(protocol: type) -> tuple[str, ...]:
    """Return what a protocol asks of an object."""
    bases = [one for one in protocol.__mro__ if one.__dict__.get("_is_protocol")]
    names = {name for one in bases for name in (*vars(one), *inspect.get_annotations(one))}
    return tuple(sorted(name for name in names if not name.startswith("_"))) or ("__call__",)


def _named(hint: object) -> str:
    """Return what a hint asks for, in words."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:
        words = [_named(one) for one in inner if one is not type(None)]
        words += ["None"] if type(None) in inner else []
        return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0]
    if origin is Literal:
        return f"one of {', '.join(map(repr, inner))}"
    if origin is not None and issubclass(origin, Mapping):
        return "a mapping (dict)"
    if origin is not None and inner and origin is not type and issubclass(origin, Iterable):
        return f"a list of {'texts' if inner[0] is str else f'{_plain(inner[0])} values'}"
    if origin is not None:
        return "a function"
    return _WORDS.get(hint, f"a {_plain(hint)}")


def _plain(hint: object) -> str:
    return getattr(hint, "__name__", "value") if is_dataclass(hint) or isinstance(hint, type) else _named(hint)
