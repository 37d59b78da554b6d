"""Which nodes of a syntax tree define something, told by their type, for any grammar.

There are no queries per language: grammars name their nodes alike (``class_definition``, ``struct_item``,
``method_declaration``). A node is a definition if a word of its type is a kind and its last word says that it is one.
What is left is in short tables.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from functools import lru_cache


class Action(Enum):
    """What to do with a node of some type."""

    SKIP = auto()
    DESCEND = auto()
    DESCEND_IF_LONG = auto()  # expressions: only those over several lines can hold definitions worth naming
    DEFINE = auto()
    ASSIGN = auto()
    CALL = auto()
    LEAD = auto()  # comments and attributes that stand before a definition


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


_KINDS = {
    "function": "function", "func": "function", "fun": "function", "proc": "procedure", "procedure": "procedure",
    "subroutine": "subroutine", "method": "method", "constructor": "constructor", "class": "class", "struct": "struct",
    "structure": "struct", "union": "union", "interface": "interface", "trait": "trait", "enum": "enum",
    "enumeration": "enum", "module": "module", "mod": "module", "namespace": "namespace", "impl": "impl",
    "implementation": "implementation", "instance": "instance", "object": "object", "protocol": "protocol",
    "mixin": "mixin", "extension": "extension", "macro": "macro", "contract": "contract", "library": "library",
    "modifier": "modifier", "event": "event", "type": "type", "newtype": "type", "data": "data", "record": "record",
    "message": "message", "service": "service", "rpc": "rpc", "table": "table", "view": "view", "trigger": "trigger",
    "delegate": "delegate", "predicate": "predicate", "entity": "entity", "architecture": "architecture",
    "package": "package", "task": "task", "template": "template", "actor": "actor", "primitive": "primitive",
    "theorem": "theorem", "program": "program", "rule": "rule", "resource": "resource", "component": "component",
    "model": "model", "annotation": "annotation", "shape": "shape", "concept": "concept",
}  # fmt: skip
_ENDS = word_set(
    "definition declaration item statement specifier spec signature binding def defn decl method class module message "
    "service enum struct interface trait function procedure subroutine rpc protocol namespace record program defun "
    "construct"
)
_NEVER = re.compile(
    r"(?:^|_)(?:call|invocation|parameters?|arguments?|import|export|use|using|include|body|list|reference|forward|"
    r"access|field|variable|constant|property|variant|member|case|if|for|while|return|break|continue|goto|throw|"
    r"try|catch|switch|match|assert|end|alias_import|package_clause|keyword|literal|expression|pattern|predefined)(?:_|$)"
    r"|^type$|_type$|^(?:with|do|let|where|rule|event)$"
)
_LEAF = re.compile(
    r"(?:^|_)(?:comment|string|literal|identifier|number|integer|float|regex|heredoc|operator|parameters?|"
    r"parameter_list|import|include|using|modifiers?|type_arguments|type_parameters|annotation|symbol|name|lit|"
    r"path|token_tree|error_union|pragma)(?:_|$)"
)
_EXPRESSION = re.compile(
    r"expression$|expr$|(?:^|_)(?:call|invocation|assignment|operator|operation|pair|array|object|dictionary|tuple|"
    r"arguments?|argument_list|parenthesized|return|subscript|index|lambda|closure|hash|list|set|map|await|unary|binary|"
    r"infix|selector|initializer|value|element|assert|print|throw|raise)(?:_\w+)?$"
)
# What only holds statements and definitions must not be taken for an expression.
_BLOCK = re.compile(
    r"(?:^|_)(?:block|body|declaration_list|statement_list|statements|suite|module|program|source_file|declarations?|"
    r"definitions|class_list|item_list|if|for|while|try|with|structure|members?)(?:_|$)"
)
_LEAD = re.compile(
    r"comment|^attribute_item$|^inner_attribute_item$|^decorator$|^annotation$|^attribute_list$|^pragma$"
)
_WRAPPERS = word_set(
    "decorated_definition export_statement template_declaration lexical_declaration variable_declaration "
    "type_declaration value_definition expression_statement Decl ambient_declaration module_definition type_definition "
    "declaration_expression implementation_definition statement local_declaration declaration definition "
    "type_system_definition template_item"
)
_ASSIGNMENTS = word_set(
    "variable_declarator assignment_expression assignment binary_operator assignment_statement pair field_definition "
    "public_field_definition let_binding VarDecl variable_assignment"
)
_WITH_ASSIGNMENTS = word_set("javascript typescript tsx r julia zig ocaml lua luau qmljs actionscript perl nix")
_WITH_CALLS = {
    "elixir": "call", "clojure": "list_lit", "commonlisp": "list_lit", "scheme": "list", "racket": "list",
    "fennel": "list", "janet": "par_tup_lit", "hcl": "block", "terraform": "block", "starlark": "", "elisp": "list",
}  # fmt: skip
_NO_DEFINITIONS_IN_EXPRESSIONS = word_set("python java c go csharp cpp cuda starlark")
# Languages of markup, data and styles: their trees hold nothing that a reader would call a definition.
WITHOUT_SYMBOLS = word_set(
    "css scss astro svelte vue twig heex embeddedtemplate mermaid typst ninja gn kdl yuck kconfig linkerscript make "
    "dockerfile meson groovy sparql asm agda uxntal wast wat llvm edn puppet bitbake"
)
_SPECIAL: dict[tuple[str, str], str | Action] = {
    ("c", "preproc_function_def"): "macro",
    ("cpp", "preproc_function_def"): "macro",
    ("cuda", "preproc_function_def"): "macro",
    ("objc", "preproc_function_def"): "macro",
    ("objc", "class_interface"): "interface",
    ("objc", "class_implementation"): "implementation",
    ("typescript", "internal_module"): "namespace",
    ("tsx", "internal_module"): "namespace",
    ("python", "type"): Action.SKIP,
    ("r", "function_definition"): Action.DESCEND,
    ("javascript", "class"): Action.DESCEND,
    ("typescript", "class"): Action.DESCEND,
    ("zig", "FnProto"): "function",
    ("zig", "ContainerDecl"): Action.DESCEND,
    ("zig", "ErrorUnionExpr"): Action.DESCEND,
    ("zig", "SuffixExpr"): Action.DESCEND,
    ("haskell", "function"): "function",
    ("haskell", "bind"): "function",
    ("haskell", "data_type"): "data",
    ("haskell", "type_synomym"): "type",
    ("haskell", "signature"): Action.LEAD,
    ("haskell", "header"): Action.SKIP,
    ("haskell", "class_declarations"): Action.SKIP,
    ("purescript", "signature"): Action.LEAD,
    ("elm", "type_annotation"): Action.LEAD,
    ("elm", "value_declaration"): "function",
    ("erlang", "fun_decl"): "function",
    ("erlang", "spec"): Action.LEAD,
    ("elixir", "unary_operator"): Action.LEAD,
    ("pascal", "defProc"): "function",
    ("pascal", "declType"): "type",
    ("ocaml", "let_binding"): Action.ASSIGN,
    ("fsharp", "function_or_value_defn"): "function",
    ("fsharp", "type_definition"): "type",
    ("swift", "init_declaration"): "constructor",
    ("d", "module_def"): Action.DESCEND,
    ("verilog", "module_or_generate_item"): Action.DESCEND,
    ("solidity", "event_definition"): "event",
    ("perl", "package_statement"): Action.SKIP,
    ("fortran", "internal_procedures"): Action.DESCEND,
    ("d", "enum_member"): Action.SKIP,
    ("julia", "type_head"): Action.SKIP,
    ("scala", "val_definition"): Action.DESCEND_IF_LONG,
    ("rust", "macro_invocation"): Action.SKIP,
    ("gdscript", "class_name_statement"): Action.SKIP,
    ("graphql", "object_type_definition"): "type",
    ("prisma", "type_declaration"): "type",
}
_WORDS = re.compile(r"[A-Z]?[a-z]+")


@lru_cache(maxsize=8192)
def rule(language: str, type_name: str) -> tuple[Action, str]:
    """Return what to do with a node of this type, and the kind of what it defines."""
    special = _SPECIAL.get((language, type_name))
    if special is not None:
        return (special, "") if isinstance(special, Action) else (Action.DEFINE, special)
    if _LEAD.search(type_name):
        return Action.LEAD, ""
    if _WITH_CALLS.get(language) == type_name:
        return Action.CALL, ""
    if language in _WITH_ASSIGNMENTS and type_name in _ASSIGNMENTS:
        return Action.ASSIGN, ""
    kind = _kind(type_name)
    if kind:
        return Action.DEFINE, kind
    return _descent(language, type_name), ""


def _kind(type_name: str) -> str:
    if type_name.startswith(("create_table", "create_view", "create_function", "create_trigger", "create_type")):
        return type_name.split("_")[1]
    if _NEVER.search(type_name):
        return ""
    words = [word.lower() for word in _WORDS.findall(type_name)]
    kinds = [_KINDS[word] for word in words if word in _KINDS]
    if not kinds or words[-1] not in _ENDS:
        return ""
    return kinds[-2] if kinds[-1] == "type" and len(kinds) > 1 else kinds[-1]


def _descent(language: str, type_name: str) -> Action:
    if type_name == "expression_statement" and language in _NO_DEFINITIONS_IN_EXPRESSIONS:
        return Action.SKIP
    if type_name in _WRAPPERS or type_name == "ERROR":
        return Action.DESCEND
    if _EXPRESSION.search(type_name) and not _BLOCK.search(type_name):
        return Action.SKIP if language in _NO_DEFINITIONS_IN_EXPRESSIONS else Action.DESCEND_IF_LONG
    if _LEAF.search(type_name) and not _BLOCK.search(type_name):
        return Action.SKIP
    return Action.DESCEND


def is_wrapper(type_name: str) -> bool:
    """Say whether a node of this type only stands around a definition (decorators, ``export``, ``const``)."""
    return type_name in _WRAPPERS
