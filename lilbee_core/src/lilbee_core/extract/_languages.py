"""Which programming language a file is written in: by ending, name, first line, or content."""

from __future__ import annotations

import re

from lilbee_core.extract._code_shape import shape_of

_SUFFIXES = {
    "actionscript": "as",
    "ada": "adb ads ada",
    "agda": "agda",
    "apex": "cls trigger apex",
    "arduino": "ino pde",
    "asm": "s asm nasm",
    "astro": "astro",
    "bash": "sh bash zsh ksh command bats ebuild",
    "bicep": "bicep",
    "bitbake": "bb bbappend bbclass",
    "bsl": "bsl os",
    "c": "c h",
    "cairo": "cairo",
    "capnp": "capnp",
    "clarity": "clar",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl cobol cpy",
    "commonlisp": "lisp lsp cl asd",
    "cpp": "cpp cc cxx c++ hpp hh hxx h++ ipp tpp inl ixx cppm",
    "csharp": "cs csx",
    "css": "css",
    "cuda": "cu cuh",
    "d": "d di",
    "dart": "dart",
    "dockerfile": "dockerfile containerfile",
    "elisp": "el",
    "elixir": "ex exs",
    "elm": "elm",
    "embeddedtemplate": "erb ejs",
    "erlang": "erl hrl escript",
    "fennel": "fnl",
    "fish": "fish",
    "fortran": "f f77 f90 f95 f03 f08 for fpp ftn",
    "fsharp": "fs fsx fsscript",
    "fsharp_signature": "fsi",
    "func": "fc",
    "gdscript": "gd",
    "gleam": "gleam",
    "glsl": "glsl vert frag geom tesc tese comp",
    "gn": "gn gni",
    "go": "go",
    "graphql": "graphql gql graphqls",
    "groovy": "groovy gvy gradle",
    "hack": "hack hck",
    "hare": "ha",
    "haskell": "hs lhs hsc",
    "haxe": "hx",
    "hcl": "hcl nomad",
    "heex": "heex leex",
    "hlsl": "hlsl fx fxh",
    "ispc": "ispc",
    "janet": "janet",
    "java": "java",
    "javascript": "js mjs cjs jsx es6",
    "jsonnet": "jsonnet libsonnet",
    "julia": "jl",
    "kconfig": "kconfig",
    "kdl": "kdl",
    "kotlin": "kt kts",
    "linkerscript": "ld lds",
    "llvm": "ll",
    "lua": "lua rockspec",
    "luau": "luau",
    "magik": "magik",
    "make": "mk mak make",
    "matlab": "mlx",
    "mermaid": "mmd mermaid",
    "nim": "nim nims nimble",
    "ninja": "ninja",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml",
    "ocaml_interface": "mli",
    "odin": "odin",
    "pascal": "pas pp dpr lpr dpk",
    "perl": "pl pm t psgi",
    "php": "php php3 php4 php5 phtml",
    "pony": "pony",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "proto": "proto",
    "puppet": "epp",
    "purescript": "purs",
    "python": "py pyi pyw pyx pxd wsgi",
    "qmljs": "qml",
    "r": "r",
    "racket": "rkt rktl",
    "rego": "rego",
    "ruby": "rb rake gemspec ru podspec",
    "rust": "rs",
    "scala": "scala sc sbt",
    "scheme": "scm ss sld",
    "scss": "scss",
    "smali": "smali",
    "smithy": "smithy",
    "solidity": "sol",
    "sparql": "sparql rq",
    "sql": "sql ddl dml psql",
    "squirrel": "nut",
    "starlark": "bzl star bazel",
    "svelte": "svelte",
    "swift": "swift",
    "tablegen": "td",
    "tcl": "tcl tk itcl",
    "terraform": "tf tfvars",
    "thrift": "thrift",
    "tsx": "tsx",
    "twig": "twig",
    "typescript": "ts mts cts",
    "typst": "typ",
    "uxntal": "tal",
    "v": "v vsh",
    "verilog": "sv svh vh",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "vue": "vue",
    "wast": "wast",
    "wat": "wat",
    "wgsl": "wgsl",
    "yuck": "yuck",
    "zig": "zig zon",
}
_NAMES = {
    "bash": ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .kshrc "
    "pkgbuild apkbuild",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "elisp": ".emacs",
    "gn": ".gn",
    "groovy": "jenkinsfile",
    "kconfig": "kconfig",
    "make": "makefile gnumakefile bsdmakefile",
    "meson": "meson.build meson_options.txt meson.options",
    "python": "sconstruct sconscript wscript snakefile",
    "r": ".rprofile",
    "ruby": "gemfile rakefile podfile vagrantfile brewfile fastfile guardfile capfile dangerfile",
    "starlark": "build workspace tiltfile",
    "vim": ".vimrc .gvimrc vimrc",
}
_INTERPRETERS = {
    "bash": "sh bash zsh ksh dash ash",
    "clojure": "bb clojure",
    "elixir": "elixir",
    "erlang": "escript",
    "fish": "fish",
    "groovy": "groovy",
    "haskell": "runhaskell runghc stack",
    "javascript": "node nodejs bun qjs",
    "julia": "julia",
    "kotlin": "kotlin kotlinc",
    "lua": "lua luajit texlua",
    "make": "make gmake",
    "nim": "nim",
    "ocaml": "ocaml ocamlrun",
    "perl": "perl",
    "php": "php",
    "powershell": "pwsh powershell",
    "python": "python pypy uv pythonw ipython",
    "r": "rscript littler",
    "racket": "racket",
    "ruby": "ruby jruby",
    "scala": "scala amm",
    "scheme": "guile chicken csi gosh",
    "starlark": "starlark",
    "swift": "swift",
    "tcl": "tclsh wish expect",
    "typescript": "deno ts-node tsx",
}
_EDITOR_NAMES = {
    "sh": "bash", "shell-script": "bash", "zsh": "bash", "c++": "cpp", "cs": "csharp", "js": "javascript",
    "py": "python",
    "makefile": "make", "emacs-lisp": "elisp", "lisp": "commonlisp", "shellscript": "bash", "c++src": "cpp",
    "c++hdr": "cpp", "csrc": "c", "chdr": "c", "java-source": "java", "objective-c": "objc", "tex": None,
}  # fmt: skip
_SHEBANG = re.compile(r"#![ \t]*(?:\S*/)?(?P<program>[^\s/]+)(?P<arguments>[^\n]*)")
_EDITOR_LINE = re.compile(
    r"-\*-[ \t]*(?:.*?mode:[ \t]*)?(?P<emacs>[\w+-]+)[^\n]*-\*-|\b(?:vim?|ex):.*?\b(?:ft|filetype|syntax)=(?P<vim>\w+)"
)


def _by_word(table: dict[str, str]) -> dict[str, str]:
    return {word: language for language, words in table.items() for word in words.split()}


_BY_SUFFIX = _by_word(_SUFFIXES)
_BY_NAME = _by_word(_NAMES)
_BY_INTERPRETER = _by_word(_INTERPRETERS)
LANGUAGES = frozenset({*_SUFFIXES, *_NAMES, *_INTERPRETERS})
"""The languages that files are recognized as, by the names of their grammars."""


def code_media_types() -> tuple[str, ...]:
    """Return ``text/x-<language>`` for every language that files are recognized as."""
    return tuple(sorted(f"text/x-{language}" for language in LANGUAGES))


def language_of_media_type(media_type: str) -> str | None:
    """Return the language of a media type such as ``text/x-python``."""
    if not media_type.startswith("text/x-"):
        return None
    name = media_type.removeprefix("text/x-")
    language = _EDITOR_NAMES.get(name, name)
    return language if language in LANGUAGES else None


def language_of_name(name: str) -> str | None:
    """Return the language of files that are always called `name` (in lower case), such as ``makefile``."""
    return _BY_NAME.get(name)


def language_of(path: str, head: bytes) -> str | None:
    """Return the language of a file from its name and its first bytes, or None if it is no source code.

    A known name or ending decides, with a look at the bytes where one ending serves several languages. Else the
    first lines may name an interpreter or an editor's mode; a file without an ending may look like code.
    """
    name = path.rsplit("/", 1)[-1].lower()
    stem, dot, suffix = name.rpartition(".")
    text = head.decode("utf-8", "replace").removeprefix("\ufeff")
    if name in _BY_NAME:
        return _BY_NAME[name]
    if dot and suffix in _BY_SUFFIX:
        return _settled(suffix, _BY_SUFFIX[suffix], text)
    if dot and suffix in _SHARED:
        return _settled(suffix, None, text)
    if stem.split(".")[0] in {"dockerfile", "containerfile", "makefile"}:
        return _BY_NAME[stem.split(".")[0]]
    return _from_first_lines(text) or (shape_of(text) if not dot else None)


def _from_first_lines(text: str) -> str | None:
    shebang = _SHEBANG.match(text)
    if shebang:
        return _interpreter(shebang["program"], shebang["arguments"])
    if text.startswith("<?php"):
        return "php"
    lines = text.split("\n", 5)[:5]
    mode = next(filter(None, map(_EDITOR_LINE.search, lines)), None)
    if mode is None:
        return None
    named = (mode["emacs"] or mode["vim"]).lower()
    language = _EDITOR_NAMES.get(named, named)
    return language if language in LANGUAGES else None


def _interpreter(program: str, arguments: str) -> str | None:
    words = [program, *arguments.split()]
    if program == "env":
        words = [word for word in words[1:] if not word.startswith("-") and "=" not in word] or [""]
    name = words[0].rsplit("/", 1)[-1].lower()
    return _BY_INTERPRETER.get(name) or _BY_INTERPRETER.get(re.sub(r"[\d.]+$", "", name))


def _has(pattern: str, text: str) -> bool:
    return re.search(pattern, text, re.MULTILINE) is not None


# One ending, several languages: the first pattern found in the first bytes decides; "" always holds.
_SHARED: dict[str, tuple[tuple[str, str | None], ...]] = {
    "h": (
        (r"^\s*@(?:interface|protocol|class|property|end)\b|^#import\b", "objc"),
        (r"^\s*(?:class\s+\w+|namespace\b|template\s*<|public:|private:|using\s+\w+)|\bstd::|\bvirtual\b", "cpp"),
    ),
    "m": (
        (r"^\s*@(?:interface|implementation|protocol|class|import|end)\b|^#(?:import|include)\b", "objc"),
        ("", "matlab"),
    ),
    "pl": ((r"^\s*:-|^[a-z]\w*\([^)\n]*\)\s*:-", None),),
    "ts": ((r"^\s*(?:<\?xml|<!DOCTYPE TS)", None),),
    "cls": ((r"\\(?:Provides|NeedsTeXFormat|LoadClass)|^VERSION \d", None),),
    "d": ((r"^\S+\.o\s*:", "make"),),
    "v": (
        (r"^\s*(?:module\s+\w+\s*[(;#]|endmodule\b|`timescale|always\s*@)", "verilog"),
        (r"^\s*(?:Require|Theorem|Lemma|Definition|Inductive)\b", None),
    ),
    "t": ((r"^\s*(?:use|my|sub|package)\b|^#!.*perl", "perl"), ("", None)),
    "as": ((r"^\s*(?:package|import|class|function|var)\b", "actionscript"), ("", None)),
    "os": ((r"(?i)^\s*(?:процедура|функция|procedure|function)\b", "bsl"), ("", None)),
    "fs": ((r"^\s*#version\b|\bgl_\w+", "glsl"), (r"^\s*: \S+ ", None)),
    "pp": ((r"^\s*(?:class|define|node)\s+[\w:]+.*\{|\S+ => ", "puppet"),),
    "cl": ((r"\b__?kernel\b", "c"),),
    "ld": ((r"^\s*(?:SECTIONS|ENTRY|MEMORY|OUTPUT_FORMAT)\b", "linkerscript"), ("", None)),
    "command": ((r"^#!", "bash"), ("", None)),
    "bb": ((r"^#!.*\bbb\b|^\(", "clojure"),),
    "frag": (("", "glsl"),),
    "comp": ((r"^\s*#version\b|\bmain\s*\(", "glsl"), ("", None)),
    "tal": ((r"^\s*[|%@]", "uxntal"), ("", None)),
    "td": ((r"^\s*(?:class|def|include|let|multiclass)\b", "tablegen"), ("", None)),
    "inc": ((r"<\?php", "php"), (r"^\s*(?:\w+\s*[:?]?=\s|ifdef|include\b)", "make"), ("", None)),
    "cgi": ((r"^#!.*perl", "perl"), (r"^#!.*python", "python"), (r"^#!.*sh\b", "bash"), ("", None)),
}


def _settled(suffix: str, usual: str | None, text: str) -> str | None:
    for pattern, language in _SHARED.get(suffix, ()):
        if _has(pattern, text):
            return language
    return usual
