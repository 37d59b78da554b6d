"""What the tests of extractors share."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lilbee_core.errors import LilbeeError, UnsupportedFormat
from lilbee_core.extract import ExtractorRegistry, builtin_extractors
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._registry import build_extractor
from lilbee_core.extract._run import run_extractor
from lilbee_core.plugins.specs import ExtractServices
from lilbee_core.types import Document, Source

Read = Callable[..., Document | LilbeeError]


@pytest.fixture(scope="session")
def read() -> Read:
    """Read bytes under a file name with the extractor that is chosen for them, in this process."""
    registry = ExtractorRegistry(builtin_extractors())

    def read_bytes(
        name: str, data: bytes, *, max_chars: int = 10_000_000, password: str | None = None
    ) -> Document | LilbeeError:
        media_type = registry.media_type(name, data[:8192])
        spec = registry.choose(name, media_type)
        if spec is None:
            return UnsupportedFormat(f"{name} is {media_type}")
        extractor = build_extractor(spec, {}, ExtractServices())
        source = Source(collection="c", path=name, media_type=media_type, data=data, size=len(data))
        return run_extractor(extractor, source, FileContext(max_chars=max_chars, password=password))

    return read_bytes


@pytest.fixture(scope="session")
def document(read: Read) -> Callable[..., Document]:
    """Like `read`, for files that must be readable."""

    def read_document(name: str, data: bytes, **more: object) -> Document:
        result = read(name, data, **more)
        assert isinstance(result, Document), result
        return result

    return read_document
