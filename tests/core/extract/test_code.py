"""Source code: its language, its definitions, its places (R024, R070)."""

from __future__ import annotations

import ast
import sysconfig
import typing
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from lilbee_core.errors import LimitExceeded, UnsupportedFormat
from lilbee_core.extract._code import CodeExtractor
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._languages import LANGUAGES, code_media_types, language_of
from lilbee_core.extract._symbols import DENIED, MAX_BYTES, symbols_of
from lilbee_core.types import Document, Source, Symbol
from tests.core.extract.code_samples import SAMPLES


def extract(path: str, data: bytes, media_type: str = "text/plain", max_chars: int = 10_000_000) -> Document:
    source = Source(collection="notes", path=path, media_type=media_type, data=data)
    return CodeExtractor().extract(source, FileContext(max_chars=max_chars))


def lines_of(text: str, symbol: Symbol) -> tuple[int, int]:
    return text.count("\n", 0, symbol.span.start) + 1, text.count("\n", 0, symbol.span.end - 1) + 1


def told(text: str, symbols: tuple[Symbol, ...]) -> str:
    return "; ".join(
        f"{one.name} {one.kind} {first}-{last}" for one in symbols for first, last in [lines_of(text, one)]
    )


# --------------------------------------------------------------------------- symbols


@pytest.mark.parametrize("language", list(SAMPLES))
def test_definitions_have_their_names_kinds_and_lines(language: str) -> None:
    text, expected = SAMPLES[language]
    assert told(text, symbols_of(text, language)) == expected


def test_a_symbol_starts_with_its_comment_and_its_decorators() -> None:
    text = SAMPLES["python"][0]
    hive = symbols_of(text, "python")[0]
    assert hive.span.cut(text).startswith("# Shared by all hives.\n@cached\nclass Hive(Base):")
    assert hive.signature == "class Hive(Base)"


def test_a_comment_behind_code_or_apart_is_not_taken_along() -> None:
    text = "x = 1  # of x\ndef one():\n    pass\n\n# Apart.\n\ndef two():\n    pass\n"
    one, two = symbols_of(text, "python")
    assert one.span.cut(text).startswith("def one")
    assert two.span.cut(text).startswith("def two")


def test_places_are_characters_not_bytes() -> None:
    text = 'NAME = "蜜蜂 🐝"\n\ndef größe():\n    return "ß"\n'
    (symbol,) = symbols_of(text, "python")
    assert (symbol.name, symbol.span.cut(text)) == ("größe", 'def größe():\n    return "ß"')


def test_broken_code_still_has_its_definitions() -> None:
    text = "def one(:\n    pass\n\ndef two():\n    return 1\n}}}} ((\n"
    assert "two" in [one.name for one in symbols_of(text, "python")]


@pytest.mark.parametrize(
    ("text", "language"),
    [("", "python"), ("\x00\x01", "python"), ("(" * 5000, "javascript"), ("{" * 5000, "c"), ("x", "no-such-language")],
)
def test_odd_input_gives_no_symbols(text: str, language: str) -> None:
    assert symbols_of(text, language) == ()


def test_lone_surrogates_do_no_harm() -> None:
    text = "s = '\ud800'\ndef one():\n    pass\n"
    (symbol,) = symbols_of(text, "python")
    assert symbol.span.cut(text) == "def one():\n    pass"


def test_deep_nesting_is_cut_off() -> None:
    text = "".join(f"{' ' * depth}def f{depth}():\n" for depth in range(90)) + " " * 90 + "pass\n"
    assert 10 < len(symbols_of(text, "python")) < 90


def grammars() -> Iterator[str]:
    from tree_sitter_language_pack import SupportedLanguage

    return (language for language in typing.get_args(SupportedLanguage) if language not in DENIED)


@pytest.mark.slow
@pytest.mark.parametrize("language", list(grammars()))
def test_every_grammar_parses(language: str) -> None:
    for text in ("x\n", "class A {\n  int b() { return 1; }\n}\n", '(def a 1)\n"é" 🐝\n', "\n\n# a\n-- b\n// c\n"):
        for symbol in symbols_of(text, language):
            assert symbol.name
            assert symbol.span.cut(text).strip()


def test_every_language_has_a_grammar() -> None:
    assert set(LANGUAGES) - set(grammars()) == DENIED


def defined_in(tree: ast.AST, prefix: str = "") -> Iterator[str]:
    for child in ast.iter_child_nodes(tree):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield f"{prefix}{child.name} at {child.lineno}"
            yield from defined_in(child, f"{prefix}{child.name}.")
        else:
            yield from defined_in(child, prefix)


@pytest.mark.slow
def test_python_symbols_are_those_of_its_own_parser() -> None:
    """The standard library's 160 first modules: every definition is found, nothing else is."""
    found: Counter[str] = Counter()
    expected: Counter[str] = Counter()
    for file in islice(sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py")), 160):
        text = file.read_text(encoding="utf-8", errors="replace")
        expected.update(f"{file.name}: {one}" for one in defined_in(ast.parse(text)))
        for symbol in symbols_of(text, "python"):
            word = "class " if symbol.kind == "class" else "def "
            own = symbol.span.cut(text)
            at = own.index(f"{word}{symbol.name.rsplit('.', 1)[-1]}")
            line = text.count("\n", 0, symbol.span.start + at) + 1
            found[f"{file.name}: {symbol.name} at {line}"] += 1
    right = sum((found & expected).values())
    print(
        f"recall {right / expected.total():.4f}, precision {right / found.total():.4f}, {expected.total()} definitions"
    )
    assert right >= 0.999 * expected.total()
    assert right >= 0.999 * found.total()


# --------------------------------------------------------------------------- the extractor


def test_the_text_is_verbatim_and_symbols_are_placed_in_it() -> None:
    document = extract("hive.py", b"\xef\xbb\xbfdef one():\r\n\treturn 1\r\n")
    assert document.text == "def one():\n\treturn 1\n"
    assert document.media_type == "text/x-python"
    assert (document.title, document.language, document.has_lines) == (None, None, True)
    assert [(one.name, one.span.cut(document.text)) for one in document.symbols] == [("one", "def one():\n\treturn 1")]
    assert document.metadata.to_dict() == {"programming_language": "python"}


def test_the_media_type_may_name_the_language() -> None:
    assert extract("script", b"def one():\n  1\nend\n", "text/x-ruby").symbols[0].name == "one"


def test_declared_encodings_are_read() -> None:
    document = extract("a.py", "# coding: latin-1\ndef größe(): pass\n".encode("latin-1"))
    assert [one.name for one in document.symbols] == ["größe"]


def test_cobol_is_read_as_plain_text() -> None:
    document = extract("pay.cbl", b"       IDENTIFICATION DIVISION.\n       PROGRAM-ID. PAY.\n")
    assert document.symbols == ()
    assert document.media_type == "text/x-cobol"
    assert "PROGRAM-ID" in document.text


def test_a_huge_file_is_read_without_symbols_and_says_so() -> None:
    document = extract("big.py", b"def one():\n    pass\n" * (MAX_BYTES // 20 + 1))
    assert document.symbols == ()
    assert "big.py" in document.warnings[0]


def test_binary_data_is_refused() -> None:
    with pytest.raises(UnsupportedFormat):
        extract("a.py", bytes(range(256)) * 40)


def test_too_long_a_text_is_refused() -> None:
    with pytest.raises(LimitExceeded):
        extract("a.py", b"x = 1\n" * 100, max_chars=50)


# --------------------------------------------------------------------------- languages


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a.py", "", "python"),
        ("src/A.JAVA", "", "java"),
        ("a/Makefile", "", "make"),
        ("Dockerfile.dev", "", "dockerfile"),
        ("CMakeLists.txt", "", "cmake"),
        (".bashrc", "", "bash"),
        ("notes.txt", "def one():\n    pass\n", None),
        ("notes.old", "Some words.\n", None),
        ("a.h", "int f(void);\n", "c"),
        ("a.h", "namespace a {\nclass B;\n}\n", "cpp"),
        ("a.h", "@interface A : NSObject\n@end\n", "objc"),
        ("a.m", "#import <A.h>\n@implementation A\n@end\n", "objc"),
        ("a.m", "function y = f(x)\ny = x;\nend\n", "matlab"),
        ("a.ts", "export const a = 1;\n", "typescript"),
        ("a.ts", '<?xml version="1.0"?>\n<!DOCTYPE TS>\n', None),
        ("a.v", "module counter(input clk);\nendmodule\n", "verilog"),
        ("a.v", "fn main() {\n}\n", "v"),
        ("a.pl", "use strict;\nmy $a = 1;\n", "perl"),
        ("a.pl", "parent(a, b).\nchild(X) :- parent(a, X).\n", None),
        ("a.cls", "\\ProvidesClass{a}\n", None),
        ("run", "#!/usr/bin/env python3\nprint(1)\n", "python"),
        ("run", "#!/usr/bin/env -S deno run\n", "typescript"),
        ("run", "#!/bin/sh\necho\n", "bash"),
        ("run.in", "#!/usr/bin/perl -w\n", "perl"),
        ("run", "#!/opt/python3.12/bin/python3.12\n", "python"),
        ("run", "#!/usr/bin/unknown\nx\n", None),
        ("page", "<?php\necho 1;\n", "php"),
        ("conf", "# -*- mode: ruby -*-\nx\n", "ruby"),
        ("conf", "// vim: set ft=go :\nx\n", "go"),
        ("", "", None),
    ],
)
def test_languages_are_told_by_name_first_line_and_content(path: str, head: str, language: str | None) -> None:
    assert language_of(path, head.encode()) == language


@pytest.mark.parametrize(
    "language", ["python", "javascript", "bash", "c", "cpp", "java", "go", "rust", "ruby", "perl", "lua", "sql", "php"]
)
def test_code_without_an_ending_is_told_by_its_look(language: str) -> None:
    assert language_of("script", SAMPLES[language][0].replace("#!/bin/bash\n", "").encode()) == language


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\n\nfrom now on we meet at nine; if you cannot, please say so.\nreturn the keys to me.\n\nBye\n",
        "name: hive\nbees: 5\ncolor: yellow\nplace: garden\n",
        "- buy milk\n- call Anna\n- let the bees out\n- for Monday: import taxes\n",
        "Copyright (c) 2020 A. Beekeeper\n\nPermission is hereby granted, free of charge, to any person;\n" * 3,
        "1,2,3\n4,5,6\n7,8,9\n",
        "Usage:\n\n```\nimport os\nos.run()\ndef f(): pass\n```\n",
    ],
)
def test_prose_and_data_are_not_taken_for_code(text: str) -> None:
    assert language_of("NOTES", text.encode()) is None


def test_media_types_name_the_languages() -> None:
    types = code_media_types()
    assert "text/x-python" in types
    assert "text/x-plain" not in types
    assert len(types) == len(set(types)) > 100
