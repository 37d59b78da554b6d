"""The composition root: `Lilbee` wires, owns and closes every part."""

from lilbee_core.clock import SystemClock
from lilbee_core.library._collections import Collections
from lilbee_core.library._concepts import Concepts
from lilbee_core.library._config import Config
from lilbee_core.library._embedding import Embedding
from lilbee_core.library._inference import Inference, InferenceModel
from lilbee_core.library._library import Lilbee
from lilbee_core.library._placing import Placing
from lilbee_core.library._switch import CancelSwitch
from lilbee_core.library._texts import Place
from lilbee_core.library._web import Web
from lilbee_core.library._wiki import Wiki
from lilbee_core.library._wiki_drafts import Drafts

__all__ = [
    "CancelSwitch", "Collections", "Concepts", "Config", "Drafts", "Embedding", "Inference", "InferenceModel", "Lilbee",
    "Place", "Placing", "SystemClock", "Web", "Wiki",
]  # fmt: skip
