"""Running one check of a contract on a part that is broken on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

import pytest

from lilbee_core.errors import LilbeeError

Make: TypeAlias = Callable[[], Any]
Case: TypeAlias = tuple[type, str, Make]


def checks_of(contract: type) -> set[str]:
    return {name for name in dir(contract) if name.startswith("test_")}


def run(contract: type, check: str, make: Make, **more: object) -> None:
    """Run one check of the contract on what `make` makes."""
    members = {name: _method(value) for name, value in more.items()}
    suite = type("Suite", (contract,), {"make": lambda self: make(), **members})
    getattr(suite(), check)()


def _method(value: object) -> object:
    return (lambda self: value()) if callable(value) else value


def fails(contract: type, check: str, make: Make, **more: object) -> None:
    """Demand that the check fails, and says why."""
    with pytest.raises((AssertionError, LilbeeError)) as failed:
        run(contract, check, make, **more)
    assert str(failed.value), "the check does not say what is wrong"


def unbroken(contract: type, cases: Mapping[str, Make | Iterable[Make]]) -> set[str]:
    """Return the checks that no case breaks."""
    return checks_of(contract) - set(cases)


def rows(contract: type, cases: Mapping[str, Make | list[Make]]) -> list[Any]:
    """Return parameters: one row for every broken part."""
    listed = [
        (check, make) for check, makes in cases.items() for make in (makes if isinstance(makes, list) else [makes])
    ]
    return [pytest.param(contract, check, make, id=f"{contract.__name__}-{check[5:]}-{n}")
            for n, (check, make) in enumerate(listed)]  # fmt: skip
