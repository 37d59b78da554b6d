"""`Embedding`: which model makes the vectors of a library, and how to change that without reading the files again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.arguments import checked
from lilbee_core.library._interrupts import interruptible

if TYPE_CHECKING:
    from lilbee_core.library._parts import Parts
    from lilbee_core.protocols import CancelToken
    from lilbee_core.types import EmbedderChange


@checked
class Embedding:
    """Changes the embedding model of an index that is there. Both ways leave texts, words and places as they are."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def adopt(self, model: str | None = None, *, cancel: CancelToken | None = None) -> EmbedderChange:
        """Use the embedder that made the index, or one that gives the same vectors; they are kept.

        Args:
            model: The model, if it is reached by another name here; by default the one that the index names. A model
                file that is not on this machine is fetched.
            cancel: Ends the fetching.

        Raises:
            EmbedderMismatch: If the model gives other vectors than those of the index; nothing is changed then.
            SettingsError: If the environment names another model, or there is no such model.
            ProviderError: If the model cannot be asked.
        """
        from lilbee_core.library._reembedding import adopt

        with interruptible(cancel) as token:
            return adopt(self._parts, model, token)

    def embed_anew(self, model: str, *, cancel: CancelToken | None = None) -> EmbedderChange:
        """Make every vector anew with another model, from the texts that the index holds.

        Words stay searchable meanwhile, and so does what has its new vector. What was done when it was stopped or
        killed is kept: this, or a sync, goes on there. In the background: ``bee.jobs.start("embed_anew", model=…)``.

        Raises:
            EmbedderMismatch: If the passages are longer than what the model reads; nothing is changed then.
            SettingsError: If the environment names another model, or there is no such model.
            ProviderError: If the model cannot be asked; nothing is changed then.
        """
        from lilbee_core.library._reembedding import embed_anew

        with interruptible(cancel) as token:
            return embed_anew(self._parts, model, token)
