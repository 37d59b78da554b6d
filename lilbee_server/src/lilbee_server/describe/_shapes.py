"""JSON schemas of the core's values, read off the code of their `to_dict`: whatever it says is told without a copy."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any, ClassVar, TypeAlias, cast

from lilbee_server.describe._hints import (
    ANYTHING,
    Schema,
    attribute,
    element,
    hint_schema,
    hints_of,
    union,
    without_none,
)

_CALLS: dict[str, Schema] = {
    "bool": {"type": "boolean"},
    "float": {"type": "number"},
    "int": {"type": "integer"},
    "len": {"type": "integer"},
    "repr": {"type": "string"},
    "round": {"type": "number"},
}
_TEXTS = frozenset({"as_posix", "isoformat", "join", "strip", "title"})
_ARRAYS = frozenset({"list", "sorted", "tuple"})


Form: TypeAlias = Any
"""What says how a value looks in JSON; `Shapes` tells which there are."""


class Shapes:
    """Schemas of what is answered. `components` are those of the classes that were met, by name.

    A form is a class with `to_dict`, or ``"module:Class"`` for one that is imported only then; a type of Python; a
    list of one form; a mapping of names to forms, where a name that ends with ``?`` may be missing; or a tuple of forms
    that the value has all of.
    """

    def __init__(self) -> None:
        self.components: dict[str, Schema] = {}

    def of(self, form: Form) -> Schema:
        """Return the schema of a form."""
        if isinstance(form, Mapping):
            fields = cast("Mapping[str, Form]", form)
            properties = {name.removesuffix("?"): self.of(one) for name, one in fields.items()}
            return _object(properties, [name for name in fields if not name.endswith("?")])
        if isinstance(form, list):
            (item,) = cast("Sequence[Form]", form)
            return {"type": "array", "items": self.of(item)}
        if isinstance(form, tuple):
            parts = cast("Sequence[Form]", form)
            return {"allOf": [self.of(one) for one in parts]}
        if isinstance(form, str):
            module, _, name = form.partition(":")
            return self.of(getattr(import_module(module), name))
        return hint_schema(form, self.named)

    def named(self, kind: type) -> Schema:
        """Return a reference to the schema of a class, which is read where it was not yet."""
        if kind.__name__ not in self.components:
            self.components[kind.__name__] = {}  # it may hold values of its own class
            read = _Reader(self, {"self": kind}).function(kind.to_dict)  # type: ignore[attr-defined]
            told = (inspect.getdoc(kind) or "").partition("\n\n")[0].replace("\n", " ")
            self.components[kind.__name__] = {**read, "description": told}
        return {"$ref": f"#/components/schemas/{kind.__name__}"}


def _object(properties: dict[str, Schema], required: list[str]) -> Schema:
    return {"type": "object", "properties": properties, "required": required}


class _Reader:
    """Reads the code of one function that returns a dictionary. What it does not understand may be anything."""

    def __init__(self, shapes: Shapes, known: dict[str, Any]) -> None:
        self._shapes = shapes
        self._known = known
        """Types of names."""
        self._made: dict[str, Schema] = {}
        """Schemas of names that hold a dictionary which is being made."""
        self._globals: Mapping[str, Any] = {}

    def function(self, code: Callable[..., Any]) -> Schema:
        """Return the schema of what a function returns."""
        try:
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(code))).body
        except (OSError, ValueError):
            return {"type": "object"}
        self._globals = code.__globals__
        found: Schema | None = None
        for statement in cast("ast.FunctionDef", tree).body:
            found = self._statement(statement, required=True) or found
        return found if found is not None and found.get("type") == "object" else {"type": "object"}

    def _statement(self, node: ast.stmt, *, required: bool) -> Schema | None:
        if isinstance(node, ast.Return) and node.value is not None:
            return self._schema(node.value)
        if isinstance(node, ast.If):
            for one in (*node.body, *node.orelse):
                self._statement(one, required=False)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            self._assign(node.target, node.value, required=required)
        elif isinstance(node, ast.Assign):
            self._assign(node.targets[0], node.value, required=required)
        return None

    def _assign(self, target: ast.expr, value: ast.expr, *, required: bool) -> None:
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            for name, one in zip(target.elts, value.elts, strict=False):
                self._assign(name, one, required=required)
        elif isinstance(target, ast.Name):
            if isinstance(value, ast.Dict):
                self._made[target.id] = self._schema(value)
            else:
                self._known[target.id] = self._hint(value)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            made = self._made.get(target.value.id)
            if made is not None and isinstance(target.slice, ast.Constant):
                made["properties"][target.slice.value] = self._schema(value)
                made["required"] += [target.slice.value] if required else []

    def _hint(self, node: ast.expr) -> Any:
        """Return the type of an expression, `object` where it is not known."""
        if isinstance(node, ast.Name):
            return self._known.get(node.id, object)
        if isinstance(node, ast.Attribute):
            return attribute(self._hint(node.value), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
            return self._hint(node.value)
        return object

    def _schema(self, node: ast.expr) -> Schema:
        read = self._READ.get(type(node))
        return read(self, node) if read is not None else hint_schema(self._hint(node), self._shapes.named)

    def _name(self, node: ast.Name) -> Schema:
        return self._made.get(node.id) or hint_schema(self._hint(node), self._shapes.named)

    def _constant(self, node: ast.Constant) -> Schema:
        return hint_schema(type(node.value), self._shapes.named)

    def _dict(self, node: ast.Dict) -> Schema:
        whole = _object({}, [])
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant):
                whole["properties"][key.value] = self._schema(value)
                whole["required"].append(key.value)
            else:
                part = self._resolved(self._schema(value)) if key is None else ANYTHING
                whole["properties"].update(part.get("properties", {}))
                whole["required"] += part.get("required", [])
        return whole

    def _resolved(self, schema: Schema) -> Schema:
        return self._shapes.components.get(schema.get("$ref", "").rpartition("/")[2], schema)

    def _list(self, node: ast.List) -> Schema:
        return {"type": "array", "items": union([self._schema(one) for one in node.elts])}

    def _comprehension(self, node: ast.ListComp) -> Schema:
        loop, known = node.generators[0], dict(self._known)
        if isinstance(loop.target, ast.Name):
            self._known[loop.target.id] = element(self._hint(loop.iter))
        items = self._schema(node.elt)
        self._known = known
        return {"type": "array", "items": items}

    def _choice(self, node: ast.IfExp) -> Schema:
        return union([self._schema(node.body), self._schema(node.orelse)])

    def _number(self, node: ast.BinOp) -> Schema:
        kinds = [self._schema(one).get("type") for one in (node.left, node.right)]
        exact = not isinstance(node.op, ast.Div) and kinds == ["integer", "integer"]
        return {"type": "integer" if exact else "number"}

    def _call(self, node: ast.Call) -> Schema:
        function = node.func
        if isinstance(function, ast.Name):
            return self._called(function.id, node)
        if not isinstance(function, ast.Attribute):
            return ANYTHING
        if function.attr in _TEXTS:
            return {"type": "string"}
        owner = without_none(self._hint(function.value))
        if function.attr == "to_dict":
            return hint_schema(owner, self._shapes.named)
        told = hint_schema(attribute(owner, function.attr), self._shapes.named)
        if told.get("type") != "object":
            return told
        return _Reader(self._shapes, {"self": owner}).function(getattr(owner, function.attr))

    def _called(self, name: str, node: ast.Call) -> Schema:
        given = self._hint(node.args[0]) if node.args else object
        if name == "str":
            told = hint_schema(given, self._shapes.named)
            return told if "enum" in told else {"type": "string"}
        if name in _ARRAYS:
            return {"type": "array", "items": hint_schema(element(given), self._shapes.named)}
        if name == "dict":
            return self._mapping(given)
        if name in _CALLS:
            return dict(_CALLS[name])
        helper = self._globals.get(name)
        if not inspect.isfunction(helper):
            return ANYTHING
        hints = hints_of(helper)
        told = hint_schema(hints.get("return", object), self._shapes.named)
        return _Reader(self._shapes, hints).function(helper) if told.get("type") == "object" else told

    def _mapping(self, hint: Any) -> Schema:
        """Return the schema of a dictionary that is made of a mapping, or of pairs."""
        told = hint_schema(hint, self._shapes.named)
        if told.get("type") != "array":
            return told or {"type": "object"}
        pair = getattr(element(hint), "__args__", ())
        values = hint_schema(pair[-1], self._shapes.named) if pair else ANYTHING
        return {"type": "object", "additionalProperties": values}

    def _truth(self, node: ast.Compare) -> Schema:
        return {"type": "boolean"}

    def _text(self, node: ast.JoinedStr) -> Schema:
        return {"type": "string"}

    _READ: ClassVar[dict[type[ast.expr], Callable[[_Reader, Any], Schema]]] = {
        ast.Name: _name,
        ast.Constant: _constant,
        ast.Dict: _dict,
        ast.List: _list,
        ast.ListComp: _comprehension,
        ast.IfExp: _choice,
        ast.BinOp: _number,
        ast.Compare: _truth,
        ast.JoinedStr: _text,
        ast.Call: _call,
    }
