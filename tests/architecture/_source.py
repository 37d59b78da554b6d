"""Reading our own source: files, and the imports in them with the function they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTIONS = ("lilbee_core", "lilbee_cli", "lilbee_server", "lilbee_mcp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Import:
    """One imported module, where it stands, and the innermost function around it ('' at module level)."""

    module: str
    names: tuple[str, ...]
    path: Path
    line: int
    function: str

    @property
    def top(self) -> str:
        return self.module.partition(".")[0]


def package_root(distribution: str) -> Path:
    return ROOT / distribution / "src" / distribution


def source_files(distribution: str) -> list[Path]:
    return sorted(package_root(distribution).rglob("*.py"))


def all_source_files() -> list[Path]:
    return [path for distribution in DISTRIBUTIONS for path in source_files(distribution)]


def imports_of(path: Path) -> Iterator[Import]:
    """Absolute imports that happen at run time, at whatever depth; those for type checkers only are left out."""
    yield from _walk(ast.parse(path.read_text("utf-8")), path, "")


def _walk(node: ast.AST, path: Path, function: str) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            for alias in child.names:
                yield Import(module=alias.name, names=(), path=path, line=child.lineno, function=function)
        elif isinstance(child, ast.ImportFrom) and child.module and not child.level:
            names = tuple(alias.name for alias in child.names)
            yield Import(module=child.module, names=names, path=path, line=child.lineno, function=function)
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            for branch in child.orelse:
                yield from _walk(branch, path, function)
        elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from _walk(child, path, child.name)
        else:
            yield from _walk(child, path, function)


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT).as_posix()}:{line}"
