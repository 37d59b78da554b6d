"""Packages whose own code is run only when it is asked for something, while their modules can be imported at once."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType


class _Deferred(ModuleType):
    """A package that runs its own code when it is first asked for a name that it does not have."""

    def __getattr__(self, name: str) -> object:
        # Tools look for these in every module; only `import *` asks for names.
        if name.startswith("__") and name != "__all__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        object.__setattr__(self, "__class__", ModuleType)
        spec = self.__spec__
        assert spec is not None
        assert spec.loader is not None
        spec.loader.exec_module(self)
        value: object = getattr(self, name)
        return value


def defer(name: str) -> None:
    """Put off what `import name` would run. Nothing happens if it was imported before, or cannot be found."""
    if name in sys.modules:
        return
    spec = importlib.util.find_spec(name)
    if spec is None or spec.loader is None or spec.submodule_search_locations is None:
        return
    module = importlib.util.module_from_spec(spec)
    module.__class__ = _Deferred
    sys.modules[name] = module
