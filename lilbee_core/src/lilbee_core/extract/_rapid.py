"""RapidOCR as an engine that recognizes text on pictures: less exact than Tesseract, but installed by pip."""

from __future__ import annotations

import importlib
import importlib.util
import threading
from collections.abc import Callable, Sequence
from typing import Protocol, cast

from lilbee_core.errors import ExtractError
from lilbee_core.protocols import OcrPage

EXTRA = "rapidocr"


class _Result(Protocol):
    txts: Sequence[str] | None
    scores: Sequence[float] | None
    boxes: Sequence[Sequence[Sequence[float]]] | None


class RapidOcr:
    """Reads Chinese and Latin letters with models that come with its package. Threads may share it.

    It runs in this process and cannot be stopped: a page that takes too long delays the next one.
    """

    name = EXTRA

    def __init__(self) -> None:
        self._engine: Callable[[bytes], _Result] | None = None
        self._lock = threading.Lock()

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        """Return the text of a picture with the mean confidence of its lines.

        Raises:
            ExtractError: If the picture cannot be read.
        """
        with self._lock:
            if self._engine is None:
                self._engine = _build()
            try:
                found = self._engine(image)
            except MemoryError:
                raise
            except Exception as error:
                raise ExtractError(f"RapidOCR failed: {type(error).__name__}: {error}") from error
        return page_of(found.txts or (), found.scores or (), found.boxes if found.boxes is not None else ())


def has_rapidocr() -> bool:
    """Say whether the package is installed."""
    return importlib.util.find_spec(EXTRA) is not None


def _build() -> Callable[[bytes], _Result]:
    # By its name, since type checkers know the package only where the extra is installed.
    build = cast("Callable[..., Callable[[bytes], _Result]]", importlib.import_module(EXTRA).RapidOCR)
    return build(params={"Global.log_level": "warning"})


def page_of(texts: Sequence[str], scores: Sequence[float], boxes: Sequence[Sequence[Sequence[float]]]) -> OcrPage:
    """Join the pieces of one height to lines; the engine gives them from top to bottom."""
    lines: list[list[tuple[float, str]]] = []
    bottom = float("-inf")
    for text, box in zip(texts, boxes, strict=False):
        top, low = float(min(point[1] for point in box)), float(max(point[1] for point in box))
        piece = (float(min(point[0] for point in box)), text)
        if lines and (top + low) / 2 < bottom:
            lines[-1].append(piece)
        else:
            lines.append([piece])
            bottom = low
    shown = "\n".join(" ".join(text for _, text in sorted(line)) for line in lines)
    return OcrPage(text=shown, confidence=round(sum(map(float, scores)) / len(scores), 4) if len(scores) else 0.0)
