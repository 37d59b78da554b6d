"""What a GGUF file says of its model: what it can serve, what it reads, and what it will take of memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lilbee_core.errors import ModelFileError
from lilbee_core.models._gguf import Head, Tensor, read_head
from lilbee_core.models._names import PART
from lilbee_core.types import GgufFacts

_POOLING = {0: "none", 1: "mean", 2: "cls", 3: "last", 4: "rank"}
# By general.file_type; the rest is named by the most common type, which the file name carries too.
_QUANTIZATIONS = {
    0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
    13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
    21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S",
    29: "IQ2_M", 30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}  # fmt: skip
# Architectures that read a text as a whole and write none: they keep no cache.
_ENCODERS = frozenset(
    {
        "bert",
        "eurobert",
        "gemma-embedding",
        "jina-bert-v2",
        "jina-bert-v3",
        "modern-bert",
        "neo-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "t5encoder",
    }
)
# Every how many layers one looks at the whole context, where the others look at a window of it.
_WINDOW_PATTERNS = {"cohere2": 4, "exaone4": 4, "gemma2": 2, "gemma3": 6, "gemma3n": 5, "gpt-oss": 2}
_MOST_LAYERS = 10_000
_LAYER = re.compile(r"blk\.(\d+)\.")
_THINKING = ("<think>", "enable_thinking", "reasoning_content")


def read_facts(path: str | Path) -> GgufFacts:
    """Read what a model file says of itself. A model in parts is named by its first part.

    Raises:
        ModelFileError: If the file, or one of its parts, is missing, damaged or no GGUF.
    """
    first = Path(path)
    head = read_head(first)
    parts = _parts(head)
    tensors = [*head.tensors, *(tensor for part in parts[1:] for tensor in read_head(part).tensors)]
    architecture = head.text("general.architecture")
    if not architecture:
        raise ModelFileError(f"{first} does not say what model it is", hint="Fetch the model again, or another one.")
    projector = head.text("general.type") == "mmproj" or architecture == "clip"
    if not projector and not tensors:
        raise ModelFileError(
            f"{first} holds a vocabulary and no weights", hint="Fetch the model itself, not only its vocabulary."
        )
    return _facts(head, architecture, tensors, parts, projector=projector)


def _facts(
    head: Head, architecture: str, tensors: Sequence[Tensor], parts: tuple[Path, ...], *, projector: bool
) -> GgufFacts:
    layers = head.number(f"{architecture}.block_count")
    if not 0 <= layers <= _MOST_LAYERS:
        raise ModelFileError(f"{head.path} announces {layers} layers", hint="Fetch it again: it is damaged.")
    layer_bytes, other, output = _weights(tensors, layers)
    pooling = _POOLING.get(head.number(f"{architecture}.pooling_type", -1))
    template = _templates(head)
    window, windowed = _window(head, architecture, layers)
    return GgufFacts(
        path=head.path,
        size_bytes=sum(part.stat().st_size for part in parts) if parts else head.size_bytes,
        architecture=architecture,
        name=head.text("general.name") or head.text("general.basename"),
        quantization=_quantization(head),
        parameters=sum(tensor.elements for tensor in tensors),
        context_tokens=head.number(f"{architecture}.context_length"),
        embedding_length=head.number(f"{architecture}.embedding_length"),
        feed_forward_length=head.number(f"{architecture}.feed_forward_length"),
        layers=layers,
        heads=head.number(f"{architecture}.attention.head_count"),
        kv_heads=head.number(f"{architecture}.attention.head_count_kv"),
        vocabulary=head.number(f"{architecture}.vocab_size") or head.length("tokenizer.ggml.tokens"),
        experts=head.number(f"{architecture}.expert_count"),
        pooling=pooling,
        chat_template=bool(template),
        tools="tools" in template or "tool_call" in template,
        thinking=any(word in template for word in _THINKING),
        projector=projector,
        projection_length=head.number("clip.vision.projection_dim") or head.number("clip.projection_dim"),
        roles=frozenset() if projector else _roles(head, architecture, pooling, tensors),
        languages=_languages(head),
        license=head.text("general.license"),
        layer_bytes=layer_bytes,
        other_bytes=other,
        output_bytes=output,
        kv_elements=() if projector else _kv_elements(head, architecture, layers),
        window=window,
        windowed=windowed,
        parts=parts,
    )


def _roles(head: Head, architecture: str, pooling: str | None, tensors: Sequence[Tensor]) -> frozenset[str]:
    """Return what a model can serve by itself. That it sees too is up to a projector beside it.

    Embedders made from chat models do not always say how they pool; their names say that they embed.
    """
    names = {tensor.name for tensor in tensors}
    if pooling == "rank" or "cls.output.weight" in names or "cls.weight" in names:
        return frozenset({"rerank"})
    if architecture in _ENCODERS or (pooling is not None and pooling != "none"):
        return frozenset({"embed"})
    named = f"{head.text('general.name')} {head.text('general.basename')} {head.path.name}".lower()
    if pooling is None and "embed" in named:
        return frozenset({"embed"})
    return frozenset({"chat"})


def _weights(tensors: Sequence[Tensor], layers: int) -> tuple[tuple[int, ...], int, int]:
    """Return the bytes of each layer, of all the rest, and of the part of the rest that the last step needs."""
    by_layer = [0] * layers
    other = output = embedding = 0
    for tensor in tensors:
        match = _LAYER.match(tensor.name)
        if match and int(match.group(1)) < layers:
            by_layer[int(match.group(1))] += tensor.bytes
            continue
        other += tensor.bytes
        if tensor.name.startswith(("output", "cls")):
            output += tensor.bytes
        elif tensor.name == "token_embd.weight":
            embedding = tensor.bytes
    tied = not any(tensor.name == "output.weight" for tensor in tensors)
    if tied and any(tensor.name == "output_norm.weight" for tensor in tensors):
        # The words serve as the last layer as well, and are loaded a second time for that.
        output += embedding
    return tuple(by_layer), other, output


def _kv_elements(head: Head, architecture: str, layers: int) -> tuple[tuple[int, int], ...]:
    if architecture in _ENCODERS or not layers:
        return ()
    key = f"{architecture}.attention"
    heads = head.numbers(f"{key}.head_count", layers)
    default = heads[0] if heads else 0
    kv_heads = head.numbers(f"{key}.head_count_kv", layers, default)
    length = head.number(f"{architecture}.embedding_length") // max(1, head.number(f"{key}.head_count", 1))
    keys = head.number(f"{key}.key_length", length)
    values = head.number(f"{key}.value_length", length)
    # Every so many layers of a hybrid one attends; the others carry a state of fixed size.
    interval = head.number(f"{architecture}.full_attention_interval", 1) or 1
    return tuple((one * keys, one * values) if not (at + 1) % interval else (0, 0) for at, one in enumerate(kv_heads))


def _window(head: Head, architecture: str, layers: int) -> tuple[int, tuple[bool, ...]]:
    """Return the window that some layers look at, and which ones; files of some kinds name one that nobody uses."""
    window = head.number(f"{architecture}.attention.sliding_window")
    pattern = head.values.get(f"{architecture}.attention.sliding_window_pattern")
    if not window:
        return 0, ()
    if isinstance(pattern, tuple) and len(pattern) >= layers:
        return window, tuple(bool(one) for one in pattern[:layers])
    step = int(pattern) if isinstance(pattern, int) and pattern > 1 else _WINDOW_PATTERNS.get(architecture, 0)
    if not step:
        return 0, ()
    return window, tuple(at % step < step - 1 for at in range(layers))


def _templates(head: Head) -> str:
    """Return all chat templates: some files have one of their own for tools."""
    return "\n".join(
        value
        for key, value in head.values.items()
        if key.startswith("tokenizer.chat_template") and isinstance(value, str)
    )


def _languages(head: Head) -> tuple[str, ...]:
    value = head.values.get("general.languages")
    return tuple(str(one) for one in value) if isinstance(value, tuple) else ()


def _quantization(head: Head) -> str:
    return _QUANTIZATIONS.get(head.number("general.file_type", -1), "")


def _parts(head: Head) -> tuple[Path, ...]:
    """Return all files of a model in parts, or none if it is one file.

    Raises:
        ModelFileError: If a part is missing, or the file is not the first one.
    """
    count = head.number("split.count")
    if count <= 1:
        return ()
    match = PART.search(head.path.name)
    stem = head.path.name[: match.start()] if match else None
    if stem is None or int(match.group(1) if match else 0) != 1:
        raise ModelFileError(
            f"{head.path} is one part of {count} and not the first",
            hint="Name the first part, which ends in -00001-of-…, and keep the names of the others.",
        )
    parts = tuple(head.path.with_name(f"{stem}-{at:05}-of-{count:05}.gguf") for at in range(1, count + 1))
    missing = [part.name for part in parts if not part.is_file()]
    if missing:
        raise ModelFileError(
            f"{head.path} lacks {len(missing)} of its {count} parts: {', '.join(missing[:3])}",
            hint="Fetch the model again: `lilbee model pull REF`.",
        )
    return parts
