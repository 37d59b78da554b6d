"""What a type checker says about our public names. Read by mypy and pyright, never run."""

from __future__ import annotations

from typing import assert_type

import lilbee_core

assert_type(lilbee_core.__version__, str)
