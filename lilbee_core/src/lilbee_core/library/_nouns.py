"""The nouns of a library that have to do with models, and with what is told to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lilbee_core.library._remembered import facts_of, notes_of, skills_of

if TYPE_CHECKING:
    from lilbee_core.chat import Prompts
    from lilbee_core.fleet import Fleet
    from lilbee_core.library._embedding import Embedding
    from lilbee_core.library._inference import Inference
    from lilbee_core.library._parts import Parts
    from lilbee_core.library._placing import Placing
    from lilbee_core.models import Models
    from lilbee_core.notes import Shelf
    from lilbee_core.tokens import Tokens


class ModelNouns:
    """What `Lilbee` offers beside documents. It has no state of its own."""

    _parts: Parts

    @property
    def fleet(self) -> Fleet:
        """The model servers that run model files (GGUF) on this machine."""
        return self._parts.fleet

    @property
    def models(self) -> Models:
        """The models of this machine, and more of them on the hub: ``bee.models.pull("Qwen/Qwen3-4B-GGUF")``."""
        from lilbee_core.library._catalog import models_of

        return models_of(self._parts)

    @property
    def embedding(self) -> Embedding:
        """Which model makes the vectors, and how to change that: ``bee.embedding.embed_anew("ollama/…")``."""
        from lilbee_core.library._embedding import Embedding

        return Embedding(self._parts)

    @property
    def placement(self) -> Placing:
        """Where model files run: ``bee.placement.show()``."""
        from lilbee_core.library._placing import Placing

        return Placing(self._parts)

    @property
    def prompts(self) -> Prompts:
        """The wordings that chat models are given, and what is put in their place."""
        from lilbee_core.library._prompting import prompts_of

        return prompts_of(self._parts)

    @property
    def notes(self) -> Shelf:
        """Notes, written by hand or by a chat model."""
        return notes_of(self._parts)

    @property
    def facts(self) -> Shelf:
        """Short facts that the chat model is told in every conversation."""
        return facts_of(self._parts)

    @property
    def skills(self) -> Shelf:
        """Procedures of which the chat model is told the names, and reads those that apply."""
        return skills_of(self._parts)

    @property
    def inference(self) -> Inference:
        """The models themselves: ``bee.inference.chat([…])``, ``.embed([…])``, ``.rerank("…", […])``."""
        from lilbee_core.library._inference import Inference

        return Inference(self._parts)

    @property
    def tokens(self) -> Tokens:
        """Tokens for programs that reach the library over a network: ``bee.tokens.create("agent", read_only=True)``."""
        from lilbee_core.library._narrowing import check_collections
        from lilbee_core.tokens import Tokens

        parts = self._parts
        return Tokens(
            lambda: parts.state,
            parts.clock,
            prepare=parts.home.prepare,
            check_collections=lambda names: check_collections(parts, names),
        )
