"""Upkeep in a process of its own: ``python -m lilbee_core.store DATA_DIR TABLE:words:vectors:files ...``."""

from __future__ import annotations

import sys

from lilbee_core.store._upkeep import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
