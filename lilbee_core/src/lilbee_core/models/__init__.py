"""Model files: what they say of themselves, which are here, and how to get more. No inference."""

from lilbee_core.models._catalog import featured
from lilbee_core.models._facts import read_facts
from lilbee_core.models._folder import ModelFolder, find_projector
from lilbee_core.models._hub import Hub
from lilbee_core.models._models import Models
from lilbee_core.models._names import role_of

__all__ = ["Hub", "ModelFolder", "Models", "featured", "find_projector", "read_facts", "role_of"]
