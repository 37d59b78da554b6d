"""Make a projector that gives a small language model eyes: `python -m tests.tools.make_random_mmproj OUT`.

They see nothing: the weights are random. The server decodes the picture, runs the vision graph, puts image tokens into
the prompt and answers, all for real; what it says has nothing to do with the picture. It fits SmolLM2-135M.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

gguf: Any = import_module("gguf")

TEXT_WIDTH = 576
_IMAGE, _PATCH = 64, 16
_WIDTH, _INNER, _LAYERS, _HEADS = 32, 64, 2, 2


def make_random_mmproj(target: Path, *, text_width: int = TEXT_WIDTH) -> Path:
    """Write the projector and return its path. The same width gives the same bytes."""
    random = np.random.default_rng(0)

    def weights(*shape: int) -> npt.NDArray[np.float32]:
        return (random.standard_normal(shape) * 0.02).astype(np.float32)

    out = gguf.GGUFWriter(str(target), "clip")
    out.add_name("random-mmproj")
    out.add_bool("clip.has_vision_encoder", True)
    out.add_string("clip.projector_type", "mlp")
    out.add_bool("clip.use_gelu", True)
    sizes = {
        "image_size": _IMAGE,
        "patch_size": _PATCH,
        "embedding_length": _WIDTH,
        "feed_forward_length": _INNER,
        "block_count": _LAYERS,
        "projection_dim": text_width,
        "attention.head_count": _HEADS,
    }
    for key, value in sizes.items():
        out.add_uint32(f"clip.vision.{key}", value)
    out.add_float32("clip.vision.attention.layer_norm_epsilon", 1e-6)
    out.add_array("clip.vision.image_mean", [0.5, 0.5, 0.5])
    out.add_array("clip.vision.image_std", [0.5, 0.5, 0.5])
    out.add_tensor("v.patch_embd.weight", weights(_WIDTH, 3, _PATCH, _PATCH))
    out.add_tensor("v.patch_embd.bias", weights(_WIDTH))
    out.add_tensor("v.position_embd.weight", weights((_IMAGE // _PATCH) ** 2, _WIDTH))
    for layer in range(_LAYERS):
        for name in ("attn_q", "attn_k", "attn_v", "attn_out"):
            out.add_tensor(f"v.blk.{layer}.{name}.weight", weights(_WIDTH, _WIDTH))
            out.add_tensor(f"v.blk.{layer}.{name}.bias", weights(_WIDTH))
        out.add_tensor(f"v.blk.{layer}.ffn_up.weight", weights(_INNER, _WIDTH))
        out.add_tensor(f"v.blk.{layer}.ffn_up.bias", weights(_INNER))
        out.add_tensor(f"v.blk.{layer}.ffn_down.weight", weights(_WIDTH, _INNER))
        out.add_tensor(f"v.blk.{layer}.ffn_down.bias", weights(_WIDTH))
        for name in ("ln1", "ln2"):
            out.add_tensor(f"v.blk.{layer}.{name}.weight", np.ones(_WIDTH, np.float32))
            out.add_tensor(f"v.blk.{layer}.{name}.bias", np.zeros(_WIDTH, np.float32))
    out.add_tensor("v.post_ln.weight", np.ones(_WIDTH, np.float32))
    out.add_tensor("v.post_ln.bias", np.zeros(_WIDTH, np.float32))
    out.add_tensor("mm.0.weight", weights(text_width, _WIDTH))
    out.add_tensor("mm.0.bias", weights(text_width))
    out.add_tensor("mm.2.weight", weights(text_width, text_width))
    out.add_tensor("mm.2.bias", weights(text_width))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return target


if __name__ == "__main__":
    print(make_random_mmproj(Path(sys.argv[1])))
