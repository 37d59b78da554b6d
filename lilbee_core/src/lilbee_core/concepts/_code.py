"""Concepts of code: the symbol that a chunk belongs to, and the names it uses most."""

from __future__ import annotations

import re
from collections import Counter

from lilbee_core.analysis import fold
from lilbee_core.concepts._candidates import Candidates
from lilbee_core.types import Chunk

_PROSE = frozenset({
    "text/x-rst", "text/x-asciidoc", "text/x-org", "text/x-tex", "text/x-bibtex", "text/x-diff", "text/x-markdown",
})  # fmt: skip
_STRINGS = re.compile(r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|/\*[\s\S]*?\*/|(?:#|//)[^\n]*')
_NAME = re.compile(r"(?<![\w.])[A-Za-z_$][\w$]{2,60}(?:\.[A-Za-z_]\w+)*(?=(\s*\()?)")
_MIXED = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_[A-Za-z0-9]|^[A-Z][a-z]+[A-Za-z0-9]*$")
_WORDS = frozenset(
    [
        "abstract",
        "and",
        "array",
        "async",
        "await",
        "bool",
        "boolean",
        "break",
        "byte",
        "case",
        "catch",
        "char",
        "class",
        "const",
        "continue",
        "def",
        "default",
        "del",
        "delete",
        "dict",
        "double",
        "elif",
        "else",
        "end",
        "enum",
        "except",
        "export",
        "extends",
        "extern",
        "false",
        "final",
        "finally",
        "float",
        "for",
        "foreach",
        "from",
        "func",
        "function",
        "global",
        "goto",
        "if",
        "implements",
        "import",
        "in",
        "include",
        "instanceof",
        "int",
        "integer",
        "interface",
        "internal",
        "is",
        "lambda",
        "len",
        "let",
        "list",
        "local",
        "long",
        "map",
        "match",
        "namespace",
        "new",
        "nil",
        "none",
        "nonlocal",
        "not",
        "null",
        "object",
        "open",
        "or",
        "override",
        "package",
        "pass",
        "print",
        "private",
        "protected",
        "public",
        "raise",
        "range",
        "readonly",
        "ref",
        "require",
        "return",
        "self",
        "set",
        "short",
        "sizeof",
        "static",
        "str",
        "string",
        "struct",
        "super",
        "switch",
        "template",
        "this",
        "throw",
        "throws",
        "trait",
        "true",
        "try",
        "tuple",
        "type",
        "typedef",
        "typeof",
        "undefined",
        "union",
        "unsigned",
        "use",
        "using",
        "val",
        "var",
        "virtual",
        "void",
        "volatile",
        "where",
        "while",
        "with",
        "yield",
        "isinstance",
        "append",
        "format",
        "join",
        "split",
        "strip",
        "items",
        "keys",
        "values",
        "get",
        "args",
        "kwargs",
        "main",
        "init",
        "exception",
        "valueerror",
        "typeerror",
        "keyerror",
        "runtimeerror",
        "printf",
        "println",
        "console",
        "log",
        "assert",
        "cls",
    ]
)
_SYMBOL, _CALLED, _USED = 4.0, 2.0, 1.5
_LEAST = 4


def is_code(chunk: Chunk) -> bool:
    """Whether the chunk is of a program."""
    return chunk.symbol is not None or (chunk.media_type.startswith("text/x-") and chunk.media_type not in _PROSE)


def collect(chunk: Chunk, found: Candidates) -> None:
    """Add the names that the chunk defines and uses."""
    for part in (chunk.symbol or "").replace("::", ".").split("."):
        if len(part) >= _LEAST - 1 and not part.startswith("__"):
            found.add(fold(part), part, "symbol", _SYMBOL)
    counts: Counter[tuple[str, bool]] = Counter()
    for match in _NAME.finditer(_STRINGS.sub(" ", chunk.text)):
        for name in _parts(match[0]):
            counts[name, bool(match[1])] += 1
    for (name, called), count in counts.items():
        if fold(name) in _WORDS or len(name) < _LEAST or name.startswith("__"):
            continue
        mixed = bool(_MIXED.search(name))
        if not mixed and not called:
            continue
        for _ in range(count):
            found.add(fold(name), name, "symbol", _CALLED if mixed else _USED)


def _parts(name: str) -> list[str]:
    """Return the names of a dotted one that are worth it: `self.store.put` is `put`, `os.path.join` is whole."""
    parts = name.split(".")
    if len(parts) == 1:
        return parts
    return [part for part in parts[1:] if part]
