"""An immutable, hashable, picklable mapping for what a document says about itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

MetaValue = str | int | float | bool | None | tuple[str, ...]


class Metadata(Mapping[str, MetaValue]):
    """Frozen key-value pairs, in insertion order.

    A plain dict is mutable and unhashable, and ``MappingProxyType`` cannot be pickled; values
    cross process pools, so this small mapping is used instead. Lists become tuples of strings.
    """

    __slots__ = ("_items",)

    def __init__(self, values: Mapping[str, object] | None = None, /, **more: object) -> None:
        merged = {**(values or {}), **more}
        self._items: tuple[tuple[str, MetaValue], ...] = tuple((str(k), _freeze(v)) for k, v in merged.items())

    def __getitem__(self, key: str) -> MetaValue:
        for name, value in self._items:
            if name == key:
                return value
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return (name for name, _ in self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __hash__(self) -> int:
        return hash(self._items)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Metadata):
            return dict(self._items) == dict(other._items)
        return NotImplemented

    def __repr__(self) -> str:
        return f"Metadata({dict(self._items)!r})"

    def __reduce__(self) -> tuple[type[Metadata], tuple[dict[str, MetaValue]]]:
        return Metadata, (dict(self._items),)

    def to_dict(self) -> dict[str, object]:
        """Return a plain dict with lists for tuples, ready for JSON."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self._items}


def _freeze(value: object) -> MetaValue:
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return tuple(str(item) for item in cast("Iterable[object]", value))
    return str(value)
