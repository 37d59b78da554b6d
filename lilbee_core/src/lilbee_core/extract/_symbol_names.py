"""What a definition in a syntax tree is called."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_DEPTH = 5
_FIELDS = ("name", "function_name", "function", "pattern", "lhs", "declarator", "type", "left", "header", "clause",
           "variable_type_function", "functionDeclarationLeft")  # fmt: skip
_NAME_TYPE = re.compile(r"(?:identifier|IDENTIFIER|name|constant|reference|atom|_ref|bareword|simple_word|^word)$")
_HEAD_ENDS = (
    "signature", "header", "head", "_statement", "_command", "binding", "clause", "declaration", "_left",
    "declarator", "call_expression", "argument_list", "argument", "object_reference", "constructor",
)  # fmt: skip
_NAME = re.compile(r"[^\s(){}\[\];,=\"'`]{1,120}")
_GENERICS = re.compile(r"<[^<>]*>")
_FUNCTION_TYPES = re.compile(r"function|arrow|lambda|^fun_|^fun$")
_CLASS_TYPES = re.compile(r"^class")
_DOTTED = re.compile(r"[\w$]+(?:\.[\w$]+)*")
_LISP_KINDS = {
    "defn": "function", "defn-": "function", "defun": "function", "defmacro": "macro", "defmethod": "method",
    "defmulti": "function", "defgeneric": "function", "defprotocol": "protocol", "defrecord": "record",
    "deftype": "type", "defstruct": "struct", "defclass": "class", "definterface": "interface", "def": "variable",
    "defonce": "variable", "defvar": "variable", "defparameter": "variable", "defconst": "constant",
    "defconstant": "constant", "defcustom": "variable", "defsubst": "function", "cl-defun": "function",
    "cl-defmethod": "method", "cl-defstruct": "struct", "define-minor-mode": "function", "deftest": "test",
    "struct": "struct", "define-syntax": "macro", "define-syntax-rule": "macro", "define-record-type": "record",
    "fn": "function", "lambda": "function", "macro": "macro", "var": "variable", "local": "variable",
}  # fmt: skip
_ELIXIR_KINDS = {
    "defmodule": "module", "def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro",
    "defprotocol": "protocol", "defimpl": "implementation", "defguard": "macro", "defdelegate": "function",
}  # fmt: skip


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "replace")


def plain_name(text: str) -> str | None:
    """Return a name as a dotted path without generics, pointers and quotes, or None if it is none."""
    shorter = text.strip().strip("\"'`*&~ ")
    while (without := _GENERICS.sub("", shorter)) != shorter:
        shorter = without
    match = _NAME.match(shorter)
    if match is None:
        return None
    return re.sub(r"::|(?<=\w):(?=\w)|\\", ".", match[0]).strip(".*&:") or None


def name_of(node: Node, language: str, depth: int = 0) -> str | None:
    """Return the name of what a node defines, or None if it has none."""
    if depth > _DEPTH:
        return None
    for field in _FIELDS:
        child = node.child_by_field_name(field)
        if child is not None and (field != "type" or node.type == "impl_item"):
            return _name_in(child, language, depth)
    if language == "haskell":
        return None
    children = node.named_children
    named = next((one for one in children if _NAME_TYPE.search(one.type)), None)
    if named is not None:
        return _name_in(named, language, depth)
    for child in children[:4]:
        if child.type.endswith(_HEAD_ENDS):
            return _name_in(child, language, depth)
    return None


def _name_in(node: Node, language: str, depth: int) -> str | None:
    """Return the name that a node is or holds."""
    if node.named_child_count and not node.type.endswith(("identifier", "dot_index_expression", "_index_expression")):
        found = name_of(node, language, depth + 1)
        if found:
            return found
        if node.type.endswith(_HEAD_ENDS):
            first = node.named_children[0]
            return _name_in(first, language, depth + 1) if depth < _DEPTH else None
    return plain_name(text_of(node))


def receiver_of(node: Node) -> str | None:
    """Return the type that a Go method belongs to."""
    receiver = node.child_by_field_name("receiver")
    if receiver is None:
        return None
    words = re.findall(r"\w+", text_of(receiver).split("[", 1)[0])
    return words[-1] if words else None


def assigned(node: Node, language: str) -> tuple[str, str] | None:
    """Return name and kind of a function, class or container that is given a name by an assignment."""
    special = {"zig": _zig_container, "ocaml": _ocaml_function, "julia": _julia_function}.get(language)
    if special is not None:
        return special(node)
    left = next(filter(None, map(node.child_by_field_name, ("name", "left", "lhs", "key", "property"))), None)
    right = next(filter(None, map(node.child_by_field_name, ("value", "right", "rhs"))), None)
    if left is None or right is None or right.type.endswith("call"):
        return None
    kind = "function" if _FUNCTION_TYPES.search(right.type) else "class" if _CLASS_TYPES.match(right.type) else None
    name = text_of(left).strip("\"'`")
    return (name, kind) if kind and _DOTTED.fullmatch(name) else None


def _julia_function(node: Node) -> tuple[str, str] | None:
    children = node.named_children
    if len(children) < 3 or children[0].type != "call_expression":
        return None
    name = plain_name(text_of(children[0]))
    return (name, "function") if name else None


def _zig_container(node: Node) -> tuple[str, str] | None:
    name = node.child_by_field_name("variable_type_function")
    match = re.search(r"=\s*(?:extern |packed )?(struct|enum|union|opaque|error)\b", text_of(node)[:200])
    return (text_of(name), match[1]) if name is not None and match else None


def _ocaml_function(node: Node) -> tuple[str, str] | None:
    pattern = node.child_by_field_name("pattern")
    body = node.child_by_field_name("body")
    takes = any(child.type == "parameter" for child in node.named_children)
    if pattern is None or not (takes or (body is not None and body.type.startswith("fun"))):
        return None
    name = plain_name(text_of(pattern))
    return (name, "function") if name else None


def called(node: Node, language: str) -> tuple[str, str] | None:
    """Return name and kind of what a form such as ``(defn name …)`` or ``def name do`` defines."""
    if language == "elixir":
        return _elixir_definition(node)
    if language in {"hcl", "terraform"}:
        return _block_name(node)
    return _lisp_definition(node)


def _elixir_definition(node: Node) -> tuple[str, str] | None:
    children = node.named_children
    kind = _ELIXIR_KINDS.get(text_of(children[0])) if children else None
    if kind is None or len(children) < 2:
        return None
    name = plain_name(text_of(children[1]))
    return (name, kind) if name else None


def _block_name(node: Node) -> tuple[str, str] | None:
    if node.parent is not None and node.parent.parent is not None and node.parent.parent.type == "block":
        return None
    parts: list[str] = []
    for child in node.named_children:
        if child.type not in {"identifier", "string_lit"}:
            break
        parts.append(text_of(child).strip('"'))
    return (".".join(parts), "block") if parts else None


def _lisp_definition(node: Node) -> tuple[str, str] | None:
    children = node.named_children[:2]
    if len(children) < 2:
        return _defun(children[0]) if children and children[0].type == "defun" else None
    word = text_of(children[0])
    if word in {"define", "define/contract", "define/public"}:
        takes = children[1].type.startswith("list")
        name = plain_name(text_of(children[1]).lstrip("( "))
        return (name, "function" if takes else "variable") if name else None
    kind = _LISP_KINDS.get(word)
    name = plain_name(text_of(children[1]).lstrip("( ")) if kind else None
    return (name, kind) if name and kind else None


def _defun(node: Node) -> tuple[str, str] | None:
    """Return name and kind of a Common Lisp form that the grammar itself takes for a definition."""
    header = node.named_children[0]
    word, name = header.child_by_field_name("keyword"), header.child_by_field_name("function_name")
    if word is None or name is None:
        return None
    return text_of(name), _LISP_KINDS.get(text_of(word), "function")
