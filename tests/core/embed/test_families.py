"""Which model wants which prefix (R075, R076)."""

from __future__ import annotations

import pytest

from lilbee_core.embed import family_of

INSTRUCT = (
    "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: how do bees fly"
)

REFS = {
    # Instruction before queries only
    "ollama/qwen3-embedding:0.6b": (INSTRUCT, "wings"),
    "Qwen/Qwen3-Embedding-0.6B-GGUF/Qwen3-Embedding-0.6B-Q8_0.gguf": (INSTRUCT, "wings"),
    "lmstudio/text-embedding-qwen3-embedding-4b": (INSTRUCT, "wings"),
    "litellm/huggingface/Qwen/Qwen3-Embedding-8B": (INSTRUCT, "wings"),
    "openai/intfloat/multilingual-e5-large-instruct": (INSTRUCT, "wings"),
    "openai/intfloat/e5-mistral-7b-instruct": (INSTRUCT, "wings"),
    "ollama/gte-Qwen2-1.5B-instruct:q8_0": (INSTRUCT, "wings"),
    "/home/bee/models/gte-qwen2-7b-instruct-q4_k_m.gguf": (INSTRUCT, "wings"),
    # Both sides
    "openai/intfloat/e5-small-v2": ("query: how do bees fly", "passage: wings"),
    "ollama/jeffh/intfloat-multilingual-e5-large:f16": ("query: how do bees fly", "passage: wings"),
    "org/multilingual-e5-base-gguf/ggml-model-q8_0.gguf": ("query: how do bees fly", "passage: wings"),
    "C:\\models\\E5-Base-v2.gguf": ("query: how do bees fly", "passage: wings"),
    # None
    "builtin/all-MiniLM-L6-v2": ("how do bees fly", "wings"),
    "ollama/bge-m3": ("how do bees fly", "wings"),
    "nomic-ai/nomic-embed-text-v1.5-GGUF/nomic-embed-text-v1.5.Q4_K_M.gguf": ("how do bees fly", "wings"),
    "openai/text-embedding-3-small": ("how do bees fly", "wings"),
    "ollama/gte-large": ("how do bees fly", "wings"),
    "ollama/qwen3:0.6b": ("how do bees fly", "wings"),
    "ollama/qwen3-instruct": ("how do bees fly", "wings"),
    "openai/base512": ("how do bees fly", "wings"),
    "openai/somee5model": ("how do bees fly", "wings"),
    "/home/e5/models/bge-m3.gguf": ("how do bees fly", "wings"),
    "": ("how do bees fly", "wings"),
}


@pytest.mark.parametrize("ref", REFS)
def test_the_map_of_families(ref: str) -> None:
    family = family_of(ref)
    assert (family.query_prefix + "how do bees fly", family.document_prefix + "wings") == REFS[ref]
