"""Upkeep in a process of its own: ``python -m lilbee_core.store DATA_DIR TABLE:words:vectors:files ...``."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

from lilbee_core.store._upkeep import main

_NICENESS = 5

if __name__ == "__main__":
    with suppress(AttributeError, OSError):  # whoever searches meanwhile goes first
        os.nice(_NICENESS)
    sys.exit(main(sys.argv[1:]))
