"""Reads one plugin's hooks, each through a manager of its own, so that a bad hook costs only itself."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import pluggy

from lilbee_core.plugins import hookspecs
from lilbee_core.plugins._checks import named


@dataclass(frozen=True, slots=True, kw_only=True)
class HookProblem:
    """A hook of a plugin that cannot be called, and why."""

    hook: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Hooks:
    """The hooks of one plugin that can be called, by name, and those that cannot."""

    callers: Mapping[str, pluggy.HookCaller] = field(default_factory=dict[str, pluggy.HookCaller])
    problems: tuple[HookProblem, ...] = ()


class _OneHook(pluggy.PluginManager):
    """Registers a single attribute of a plugin."""

    def __init__(self, attribute: str) -> None:
        super().__init__(hookspecs.GROUP)
        self._attribute = attribute
        self.add_hookspecs(hookspecs)

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        return super().parse_hookimpl_opts(plugin, name) if name == self._attribute else None


def known_hooks() -> dict[str, tuple[str, ...]]:
    """Return the arguments of every hook, by name."""
    functions = {name: one for name, one in vars(hookspecs).items() if name.startswith("lilbee_") and callable(one)}
    return {name: tuple(inspect.signature(one).parameters) for name, one in functions.items()}


def read_hooks(plugin: object, title: str) -> Hooks:
    """Find the hooks of a plugin, which is a module or an object."""
    known = known_hooks()
    callers: dict[str, pluggy.HookCaller] = {}
    problems: list[HookProblem] = []
    reader = pluggy.PluginManager(hookspecs.GROUP)
    for attribute in dir(plugin):
        options = reader.parse_hookimpl_opts(plugin, attribute)
        if options is None:
            if attribute in known and inspect.isroutine(inspect.getattr_static(plugin, attribute, None)):
                problems.append(_unmarked(attribute))
            continue
        hook = options.get("specname") or attribute
        manager = _OneHook(attribute)
        problem = _problem(hook, options, known)
        if problem is None:
            problem = _register(manager, plugin, title, hook, known)
        if problem is None:
            callers[hook] = cast("pluggy.HookCaller", getattr(manager.hook, hook))
        else:
            problems.append(problem)
    return Hooks(callers=callers, problems=tuple(problems))


def results_of(caller: pluggy.HookCaller) -> list[object]:
    """Call a hook that offers parts.

    Raises:
        TypeError: If it returned no list.
    """
    # One plugin answers here, so there is one result, or none when it returned None.
    answers = cast("list[object]", caller())
    if not answers:
        return []
    answer, kind = answers[0], named(type(answers[0]))
    if inspect.iscoroutine(answer):
        answer.close()
    elif isinstance(answer, Iterable) and not isinstance(answer, str | bytes | Mapping):
        return list(cast("Iterable[object]", answer))
    raise TypeError(f"returned {kind} instead of a list")


def _register(
    manager: _OneHook, plugin: object, title: str, hook: str, known: Mapping[str, tuple[str, ...]]
) -> HookProblem | None:
    try:
        manager.register(plugin, name=title)
    except pluggy.PluginValidationError as error:
        reason = str(error).strip().splitlines()[-1]
        message = f"asks for arguments that {hook} does not have: {reason}"
        return HookProblem(hook=hook, message=message, hint=f"Write it as {hook}({', '.join(known[hook])}).")
    return None


def _problem(hook: str, options: pluggy.HookimplOpts, known: Iterable[str]) -> HookProblem | None:
    if hook not in known:
        near = difflib.get_close_matches(hook, list(known), n=1)
        hint = f"Did its author mean {near[0]}?" if near else f"The hooks are: {', '.join(known)}."
        return HookProblem(hook=hook, message=f"there is no hook {hook}", hint=hint)
    if options.get("wrapper") or options.get("hookwrapper"):
        message = "is a wrapper, and every plugin is called alone"
        return HookProblem(hook=hook, message=f"{hook} {message}", hint="Write a plain function.")
    return None


def _unmarked(hook: str) -> HookProblem:
    return HookProblem(hook=hook, message=f"{hook} is not marked as a hook", hint="Put @hookimpl above it.")
