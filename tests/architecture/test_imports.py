"""Who may import whom. The layers stand in the root pyproject.toml; the finer rules stand here (R001, R006)."""

from __future__ import annotations

import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from tests.architecture._source import (
    DISTRIBUTIONS,
    ROOT,
    Import,
    all_source_files,
    imports_of,
    package_root,
    place,
    source_files,
)

# Each heavy library is imported by the packages of the core named here and nowhere else.
HOMES = {
    "graspologic_native": {"concepts"},
    "kreuzberg": {"extract"},
    "msoffcrypto": {"extract"},
    "olefile": {"extract"},
    "pypdfium2": {"extract"},
    "rapidocr": {"extract"},
    "httpcore": {"crawl"},
    "lancedb": {"store"},
    "litellm": {"providers"},
    "lxml": {"crawl"},
    "markdownify": {"crawl"},
    "networkx": {"concepts"},
    "onnxruntime": {"embed"},
    "playwright": {"crawl"},
    "protego": {"crawl"},
    "pyarrow": {"store"},
    "spacy": {"concepts"},
    "Stemmer": {"analysis"},
    "snowballstemmer": {"analysis"},
    "tokenizers": {"embed"},
    "tree_sitter": {"extract"},
    "tree_sitter_language_pack": {"extract"},
    "xllamacpp": {"fleet"},
    "xlrd": {"extract"},
}
# Results turn themselves into tables on request: the one exception, and only inside the function of that name.
TABLE_FUNCTIONS = {"to_arrow": {"pyarrow"}, "to_pandas": {"pandas", "pyarrow"}}
# What a front end may import from the core; everything else is reached through `Lilbee`.
PUBLIC = {
    "aio", "allocator", "background", "errors", "events", "library", "plugins", "protocols", "settings", "testing",
    "text", "tokens", "types",
}  # fmt: skip
HEAVY = (
    "kreuzberg", "lancedb", "litellm", "numpy", "onnxruntime", "pandas", "pyarrow", "pydantic", "pypdfium2", "spacy",
    "tokenizers",
    "tree_sitter",
)  # fmt: skip


def core_home(path: Path) -> str:
    """Name of the package or module of the core that holds `path`."""
    return path.relative_to(package_root("lilbee_core")).parts[0].removesuffix(".py")


def is_defined_in_the_root(name: str) -> bool:
    root = package_root("lilbee_core")
    return name == "__version__" or (root / name).is_dir() or (root / f"{name}.py").is_file()


@lru_cache
def every_import(*distributions: str) -> list[Import]:
    return [found for name in distributions for path in source_files(name) for found in imports_of(path)]


def test_import_contracts_are_kept() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_heavy_libraries_are_imported_at_home_only() -> None:
    strays = [
        f"{place(found.path, found.line)} imports {found.module}"
        for found in every_import("lilbee_core")
        if found.top in HOMES
        and core_home(found.path) not in HOMES[found.top]
        and found.top not in TABLE_FUNCTIONS.get(found.function, set())
    ]
    assert strays == []


def test_front_ends_import_no_heavy_library() -> None:
    strays = [
        f"{place(found.path, found.line)} imports {found.module}"
        for found in every_import(*DISTRIBUTIONS[1:])
        if found.top in HOMES or found.top in {"numpy", "pandas"}
    ]
    assert strays == []


def test_front_ends_reach_features_through_the_library_only() -> None:
    strays = [
        f"{place(found.path, found.line)} imports {found.module}"
        for found in every_import(*DISTRIBUTIONS[1:])
        if found.module.startswith("lilbee_core.") and found.module.split(".")[1] not in PUBLIC
    ]
    assert strays == []


def test_the_core_imports_from_defining_modules_never_from_its_root() -> None:
    strays = [
        place(found.path, found.line)
        for found in every_import("lilbee_core")
        if found.module == "lilbee_core" and not all(is_defined_in_the_root(name) for name in found.names)
    ]
    assert strays == []


def test_no_private_module_is_imported_from_outside_its_feature() -> None:
    strays: list[str] = []
    for path in all_source_files():
        for found in imports_of(path):
            parts = found.module.split(".")
            private = next((i for i, part in enumerate(parts) if part.startswith("_") and part != "__future__"), None)
            if parts[0] in DISTRIBUTIONS and private is not None:
                owner = "/".join(parts[: min(private, 2)])
                if owner not in path.parent.as_posix():
                    strays.append(f"{place(path, found.line)} imports {found.module}")
    assert strays == []


def test_importing_the_core_loads_nothing_heavy() -> None:
    assert _loaded_by("import lilbee_core") == []


def test_importing_the_command_line_loads_nothing_heavy() -> None:
    assert _loaded_by("import lilbee_cli.main") == []


def _loaded_by(statement: str) -> list[str]:
    code = f"import sys\n{statement}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return result.stdout.split()


@pytest.mark.parametrize("name", ["Lilbee", "Store"])
def test_public_names_load_on_use(name: str) -> None:
    """The names are there without having been imported: lazily, by PEP 562."""
    code = f"import lilbee_core\nassert {name!r} in dir(lilbee_core)\nassert {name!r} not in vars(lilbee_core)"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
