"""A vision model as an engine that recognizes text on pictures, with tables and headings as Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from lilbee_core.protocols import OcrPage, VisionProvider


class SeeingModel:
    """Sends each page to a model that sees. Threads may share it if they may share the model."""

    name = "vision"

    def __init__(self, model: VisionProvider, name: str = "") -> None:
        """Take the model; `name` tells which one, for the index to know what read a page."""
        self._model = model
        self.model = name

    def recognize(self, image: bytes, *, languages: Sequence[str], timeout_s: float) -> OcrPage:
        """Return the page as the model writes it. Models do not say how sure they are.

        Raises:
            ProviderError: If the model fails.
        """
        text = self._model.read(image).strip()
        return OcrPage(text=text, confidence=1.0 if text else 0.0, markdown=True)
