"""Definitions in source code: their dotted names, kinds and places, for any grammar of the language pack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from lilbee_core.extract._symbol_names import assigned, called, name_of, receiver_of
from lilbee_core.extract._symbol_rules import WITHOUT_SYMBOLS, Action, is_wrapper, rule, word_set
from lilbee_core.text import fold_space
from lilbee_core.types import Span, Symbol

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_BYTES = 2_000_000
"""Larger files are read as plain text: they are generated, and parsing them takes seconds."""
DENIED = frozenset({"cobol"})
"""Grammars that never return on some input and cannot be stopped."""

_MAX_DEPTH = 40
_MAX_SYMBOLS = 50_000
_SIGNATURE_CHARS = 200
_HOLDS_METHODS = word_set(
    "class struct interface trait impl implementation object protocol mixin extension enum contract record actor union "
    "instance"
)
_HOLDS_NOTHING = frozenset({"type", "event"})
_NEEDS_BODY_IF_SHORT = frozenset({"namespace", "module", "package"})
_KEYWORDS = frozenset({"struct", "enum", "interface", "extension", "actor", "union"})
_BODY_FIELDS = ("body", "declarations", "block")
_BODY_TYPES = frozenset({"function_body", "Block"})
_GO_TYPES = {"struct_type": "struct", "interface_type": "interface"}
_IN_CLAUSES = frozenset({"erlang", "haskell", "purescript"})


@dataclass(frozen=True, slots=True)
class _Found:
    """A definition, in bytes. Its head is its own text up to its body, behind comments and decorators."""

    start: int
    end: int
    name: str
    kind: str
    head_start: int
    head_end: int


@dataclass(frozen=True, slots=True)
class _Scope:
    """The definition around a place: its dotted name with a dot behind it, its kind, its own name and row."""

    prefix: str = ""
    kind: str = ""
    name: str = ""
    row: int = -1


def symbols_of(text: str, language: str) -> tuple[Symbol, ...]:
    """Return the definitions of a source text in order, outer before inner.

    Empty for texts over `MAX_BYTES` and for languages whose grammars know no definitions.
    """
    if language in WITHOUT_SYMBOLS or language in DENIED or len(text) > MAX_BYTES:
        return ()
    data = text.encode("utf-8", "replace")
    parser = _parser(language) if len(data) <= MAX_BYTES else None
    if parser is None:
        return ()
    found = _Walk(language, data).run(parser.parse(data).root_node)
    if language in _IN_CLAUSES:
        found = _joined_clauses(found)
    return tuple(_placed(found, text, data))


def _parser(language: str) -> Parser | None:
    from tree_sitter_language_pack import get_parser

    try:
        return get_parser(cast("Any", language))
    except LookupError:
        return None


class _Walk:
    """One walk through a syntax tree, into what may hold definitions."""

    def __init__(self, language: str, data: bytes) -> None:
        self._language = language
        self._data = data
        self._found: list[_Found] = []

    def run(self, root: Node) -> list[_Found]:
        self._children(root, _Scope(), 0)
        return self._found

    def _children(self, node: Node, scope: _Scope, depth: int, lead: int = -1) -> None:
        """Visit the children of a node. `lead` is where comments right before the first of them start."""
        if depth > _MAX_DEPTH:
            return
        lead_row = node.start_point[0] if lead >= 0 else -2
        for child in node.named_children:
            action, kind = rule(self._language, child.type)
            if action is Action.SKIP:
                lead = -1
            elif action is Action.LEAD:
                if self._starts_line(child):
                    lead = child.start_byte if lead < 0 or child.start_point[0] > lead_row + 1 else lead
                    lead_row = _last_row(child)
            else:
                leads = lead >= 0 and child.start_point[0] <= lead_row + 1
                self._visit(child, action, kind, lead if leads else child.start_byte, None, scope, depth)
                lead = -1

    def _visit(
        self, node: Node, action: Action, kind: str, start: int, end: int | None, scope: _Scope, depth: int
    ) -> None:
        """Take a node for a definition, or look into it. `start` and `end` are those of what stands around it."""
        if action is Action.DESCEND_IF_LONG and node.start_point[0] == node.end_point[0]:
            return
        named = self._definition(node, action, kind)
        if named is not None:
            self._define(node, named, start, end, scope, depth)
            return
        inner = self._wrapped(node)
        if inner is not None:
            inner_action, inner_kind = rule(self._language, inner.type)
            self._visit(inner, inner_action, inner_kind, start, end or node.end_byte, scope, depth + 1)
        elif action in _LOOKED_INTO or node.start_point[0] != node.end_point[0]:
            self._children(node, scope, depth + 1, start if start < node.start_byte else -1)

    def _definition(self, node: Node, action: Action, kind: str) -> tuple[str, str] | None:
        if action is Action.ASSIGN:
            return assigned(node, self._language)
        if action is Action.CALL:
            return called(node, self._language)
        if action is not Action.DEFINE or not self._is_whole(node, kind):
            return None
        name = name_of(node, self._language)
        return (name, _refined(node, kind)) if name else None

    def _is_whole(self, node: Node, kind: str) -> bool:
        """Say whether a node defines its thing, and does not only mention or open it."""
        if not node.named_child_count:
            return False
        if node.type.endswith("_specifier"):
            return node.child_by_field_name("body") is not None
        if kind in _NEEDS_BODY_IF_SHORT and node.start_point[0] == _last_row(node):
            return any(node.child_by_field_name(field) for field in _BODY_FIELDS)
        return True

    def _wrapped(self, node: Node) -> Node | None:
        """Return the only child of a wrapper that may be a definition."""
        if not is_wrapper(node.type):
            return None
        inner = [one for one in node.named_children if rule(self._language, one.type)[0] not in _LOOKED_OVER]
        return inner[0] if len(inner) == 1 else None

    def _define(
        self, node: Node, named: tuple[str, str], start: int, end: int | None, scope: _Scope, depth: int
    ) -> None:
        name, kind = named
        row = node.start_point[0]
        if name == scope.name and row == scope.row:  # a header inside of its own definition
            self._children(node, scope, depth + 1)
            return
        if kind == "function" and scope.kind in _HOLDS_METHODS:
            kind = "method"
        receiver = receiver_of(node) if self._language == "go" else None
        full_name = f"{scope.prefix}{receiver}.{name}" if receiver else scope.prefix + name
        if len(self._found) < _MAX_SYMBOLS:
            self._found.append(
                _Found(start, _end_of(node, end), full_name, kind, node.start_byte, self._head_end(node))
            )
        if kind not in _HOLDS_NOTHING:
            self._children(node, _Scope(f"{full_name}.", kind, name, row), depth + 1)

    def _head_end(self, node: Node) -> int:
        body = next(filter(None, map(node.child_by_field_name, _BODY_FIELDS)), None)
        line_end = self._data.find(b"\n", node.start_byte, node.end_byte)
        if body is not None and body.start_byte > node.start_byte:
            return body.start_byte
        return line_end if line_end >= 0 else node.end_byte

    def _starts_line(self, node: Node) -> bool:
        at = node.start_byte
        return not self._data[self._data.rfind(b"\n", 0, at) + 1 : at].strip()


_LOOKED_INTO = frozenset({Action.DESCEND, Action.DESCEND_IF_LONG, Action.DEFINE})
_LOOKED_OVER = frozenset({Action.SKIP, Action.LEAD})


def _refined(node: Node, kind: str) -> str:
    """Return the kind that a keyword of the definition names (Swift and Kotlin call structs classes)."""
    if kind == "class":
        words = (child.type for child in node.children[:4] if not child.is_named)
        return next((word for word in words if word in _KEYWORDS), kind)
    if node.type == "type_spec":
        defined = node.child_by_field_name("type")
        return _GO_TYPES.get(defined.type, kind) if defined is not None else kind
    return kind


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _end_of(node: Node, end: int | None) -> int:
    """Return where a definition ends; in some grammars the body stands behind its signature, not in it."""
    if end is not None:
        return end
    if node.type.endswith(("signature", "FnProto")):
        sibling = node.next_named_sibling
        if sibling is not None and sibling.type in _BODY_TYPES:
            return sibling.end_byte
    return node.end_byte


def _joined_clauses(found: Sequence[_Found]) -> list[_Found]:
    """Join the equations of one function."""
    joined: list[_Found] = []
    for one in found:
        if joined and joined[-1].name == one.name and joined[-1].kind == one.kind == "function":
            joined[-1] = replace(joined[-1], end=one.end)
        else:
            joined.append(one)
    return joined


def _placed(found: Sequence[_Found], text: str, data: bytes) -> Iterator[Symbol]:
    """Yield the definitions with their places in characters."""
    places = _characters(
        {place for one in found for place in (one.start, one.end, one.head_start, one.head_end)}, text, data
    )
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        start, end = places[one.start], places[one.end]
        while end > start and text[end - 1].isspace():
            end -= 1
        head = fold_space(text[places[one.head_start] : min(places[one.head_end], end)])
        yield Symbol(span=Span(start, end), name=one.name, kind=one.kind, signature=_signature(head))


def _signature(head: str) -> str:
    return head[:_SIGNATURE_CHARS].rstrip(" {:=;") or head[:_SIGNATURE_CHARS]


def _characters(places: set[int], text: str, data: bytes) -> Mapping[int, int]:
    """Return which character stands at each of these bytes."""
    if len(data) == len(text):
        return {place: place for place in places}
    found: dict[int, int] = {}
    at = characters = 0
    for place in sorted(places):
        characters += len(data[at:place].decode("utf-8", "replace"))
        found[place] = characters
        at = place
    return found
