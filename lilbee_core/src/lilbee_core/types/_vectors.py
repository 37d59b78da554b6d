"""Vectors travel as 2-D float32 arrays, beside chunks and never inside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]
    """``[n, dimension]`` float32, rows of unit length (cosine similarity = dot product)."""
    Vector: TypeAlias = NDArray[np.float32]
    """``[dimension]`` float32 of unit length."""
    Integers: TypeAlias = NDArray[np.int64]
    """``[n]`` int64: positions and counts by the million."""
else:
    # numpy is for type checkers only: importing this module must stay free.
    Vectors = Vector = Integers = object
