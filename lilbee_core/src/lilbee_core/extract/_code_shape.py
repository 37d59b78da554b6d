"""Telling source code from prose by its look, for files whose name says nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

_SAMPLE_CHARS = 8192
_ENOUGH_LINES = 3
_SHARE = 0.5
_SHARE_WITH_SIGNS = 0.15
_MANY_SIGNS = 4

# What begins or ends a line in one language and hardly ever in prose. A line counts once for each language.
_LINES = {
    "python": (
        r"(?:async )?def \w+\(.*|class \w+(?:\(.*\))?:|from [\w.]+ import .+|import [\w.]+(?: as \w+)?|"
        r"(?:if|elif|for|while|with|try|except|else|finally)\b.*:|@\w[\w.]*(?:\(.*\))?|return\b.*|"
        r"if __name__ == .*|\w+(?:\.\w+)* = .+|print\(.*\)|raise \w+.*|\w+(?:\.\w+)+\(.*\)|[\])}],?"
    ),
    "javascript": (
        r"(?:export )?(?:default )?(?:async )?function\b.*\{|(?:const|let|var) \w+ = .+|"
        r"import .+ from ['\"].+|.*=> ?\{?|module\.exports\b.*|.*require\(['\"].*|.+;|\}\)?;?,?|"
        r"(?:if|for|while|switch)\s?\(.*\)\s?\{|return\b.*;|\} else .*"
    ),
    "bash": (
        r"(?:if|elif|while|until)\b.*; ?then|(?:if|elif) \[\[? .*|fi|done|esac|then|else|do|for \w+ in .*|"
        r"(?:function )?\w+ ?\(\) ?\{|export \w+=.*|(?:local |readonly )?\w+=\S*|set -[a-z]+.*|"
        r"\w+ .*\$\{?\w+.*|echo .*|.*;;|\}|case .* in|.* \|\| .*|.* && .*|.* \| .*|source \S+|\. \S+|exit \d"
    ),
    "c": (
        r"#(?:include|define|ifdef|ifndef|endif|pragma)\b.*|"
        r"(?:static |extern |const |unsigned )*(?:int|void|char|float|double|struct \w+|size_t)\s[\w*\s]+[(=;].*|"
        r".+;|\}|\{|(?:if|for|while|switch) ?\(.*|return\b.*;"
    ),
    "cpp": (
        r"#include <\w+>|using namespace \w+;|template ?<.*|namespace \w* ?\{|class \w+.*|"
        r"(?:public|private|protected):|.*std::.*|.+;|\}|\{|(?:if|for|while|switch) ?\(.*|return\b.*;"
    ),
    "java": (
        r"package [\w.]+;|import (?:static )?[\w.*]+;|(?:public|private|protected)\b.*[{;]|@\w+(?:\(.*\))?|"
        r".+;|\}|(?:if|for|while|switch) ?\(.*\{|return\b.*;|\} (?:else|catch|finally)\b.*"
    ),
    "go": (
        r"package \w+|import \(|import \".*\"|func (?:\(.*\) )?\w+\(.*|type \w+ (?:struct|interface) ?\{|"
        r".*:= .*|\}|\)|if .*\{|for .*\{|return\b.*|defer .*|\"[\w./]+\"|var \w+ .*"
    ),
    "rust": (
        r"(?:pub(?:\(\w+\))? )?(?:async )?fn \w+.*|use [\w:]+.*;|impl\b.*\{|"
        r"(?:pub )?(?:struct|enum|trait|mod) \w+.*|let (?:mut )?\w+.*|#!?\[.*\]|match .*\{|.*=> .*,?|\}|.+;|"
        r"if .*\{|for .*\{"
    ),
    "ruby": (
        r"require(?:_relative)? ['\"].+|def [\w.?!]+.*|class [A-Z]\w*(?: < .*)?|module [A-Z]\w*|end|"
        r".* do(?: \|.*\|)?|puts .*|attr_\w+ .*|(?:if|unless|elsif|while) .*|else|@\w+ = .*|\w+ = .*"
    ),
    "perl": (
        r"use (?:strict|warnings|[\w:]+).*;|sub \w+ ?\{|my [$@%(].*|[$@%]\w+.*;|\}|.+;|package [\w:]+;|"
        r"foreach .*\{"
    ),
    "php": r"<\?php.*|\$\w+.*;|(?:public |private |protected |static )*function \w+\(.*|\}|.+;|namespace [\w\\]+;",
    "lua": (
        r"local (?:function )?\w+.*|function [\w.:]+\(.*\)|end[,)]*|.* then|return\b.*|for .* do|require.*|"
        r"\w[\w.]* = .*"
    ),
    "sql": (
        r"(?i:select\b.*|from \w+.*|where \w+.*|create (?:table|index|view)\b.*|insert into\b.*|"
        r"update \w+ set.*|alter table\b.*|drop \w+.*|join\b.*|.*,|\);?|.*;|values\b.*)"
    ),
    "dockerfile": r"FROM \S+.*|RUN .*|COPY .*|ADD .*|CMD .*|ENTRYPOINT .*|ENV .*|WORKDIR .*|EXPOSE .*|ARG .*",
}
# One of these must occur: the lines above are common to several languages.
_SIGNS = {
    "python": r"^\s*(?:async )?def \w+\(.*\).*:|^(?:from [\w.]+ )?import \w[\w., ]*$|^\s*class \w+.*:$",
    "javascript": r"\bfunction\b.*\{|\) => ?[\w{(]|\b(?:const|let|var) \w+ =|require\(|\bconsole\.",
    "bash": r"\bfi\b|\bdone\b|\besac\b|\$\{?\w|^\s*(?:function )?\w+ ?\(\) ?\{|^export \w+=",
    "c": r"^#include\b|^\w[\w\s*]+\([^;]*\)\s*\{?$",
    "cpp": r"\bstd::|^using namespace|^template ?<|^namespace\b|^\s*(?:public|private):",
    "java": (
        r"^package [a-z]\w*\.[\w.]+;|^import java|"
        r"\bpublic (?:static |final |abstract )*(?:class|interface|void|enum)\b"
    ),
    "go": r"^package \w+$|^func\b.*\{$",
    "rust": r"\bfn \w+.*[{>]|^use \w+::|^impl\b.*\{$|\blet mut\b",
    "ruby": r"^\s*def \w+[^:]*$|^require ['\"]|\bdo \|",
    "perl": r"^use (?:strict|warnings)|\bmy [$@%]|^sub \w+",
    "php": r"<\?php",
    "lua": r"\blocal \w+|\bthen$|^function\b",
    "sql": (
        r"(?i)^\s*(?:create table|select\b.*\bfrom|insert into|alter table|create index|create view)|"
        r"^\s*select\b"
    ),
    "dockerfile": r"^FROM \S+",
}
_COMPILED = {
    language: (re.compile(rf"\s*(?:{lines})\s*"), re.compile(_SIGNS[language], re.MULTILINE))
    for language, lines in _LINES.items()
}
# Where two fit alike, the more particular one is meant.
_PARTICULAR = (
    "php", "cpp", "rust", "go", "java", "perl", "ruby", "python", "lua", "c", "javascript", "bash", "dockerfile",
    "sql",
)  # fmt: skip


def shape_of(text: str) -> str | None:
    """Return the language that a text looks like, or None if it looks like prose or data."""
    text = text[:_SAMPLE_CHARS]
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < _ENOUGH_LINES or "```" in text:
        return None
    best, best_score = None, 0.0
    for language in _PARTICULAR:
        score = _score(language, text, lines)
        if score > best_score + 0.01:
            best, best_score = language, score
    return best


def _score(language: str, text: str, lines: Sequence[str]) -> float:
    """Return how much a text looks like a language; 0 is not at all.

    Where the language's own signs are many, few lines need to look like it: the others may be comments.
    """
    like, sign = _COMPILED[language]
    signs = sum(1 for _ in sign.finditer(text))
    if not signs:
        return 0.0
    share = sum(like.fullmatch(line) is not None for line in lines) / len(lines)
    if share < (_SHARE_WITH_SIGNS if signs >= _MANY_SIGNS else _SHARE):
        return 0.0
    return share + 0.05 * min(signs, 10)
