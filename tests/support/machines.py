"""Made-up machines and models for planning."""

from __future__ import annotations

from pathlib import Path

from lilbee_core.fleet import RoleModel
from lilbee_core.types import Device, GgufFacts, MachineSnapshot

GIB = 1 << 30
MIB = 1 << 20


def card(
    index: int, free: float, total: float | None = None, *, name: str = "RTX 4090", backend: str = "CUDA"
) -> Device:
    """Return a card with so many GiB."""
    size = free if total is None else total
    return Device(backend=backend, index=index, name=name, total_bytes=int(size * GIB), free_bytes=int(free * GIB))


def machine(*free: float, ram: float = 64, cores: int = 16) -> MachineSnapshot:
    """Return a machine with cards of so many free GiB each, or none."""
    return MachineSnapshot(
        devices=tuple(card(index, one) for index, one in enumerate(free)),
        total_ram_bytes=int(ram * GIB),
        free_ram_bytes=int(ram * GIB),
        cores=cores,
    )


def pool(free: float, total: float | None = None, *, cores: int = 8, metal: bool = False) -> MachineSnapshot:
    """Return a machine without cards of its own."""
    shared = Device(
        backend="Metal", index=0, name="Apple M4", total_bytes=int(free * GIB), free_bytes=int(free * GIB), unified=True
    )
    return MachineSnapshot(
        total_ram_bytes=int((total or free) * GIB),
        free_ram_bytes=int(free * GIB),
        cores=cores,
        accelerator=shared if metal else None,
    )


def model(
    role: str,
    weights: float,
    *,
    layers: int = 32,
    kv_kib: float = 128,
    context: int = 131_072,
    eyes: float = 0.0,
    vocabulary: int = 32_000,
) -> RoleModel:
    """Return a model with so many GiB of weights, and so many KiB of cache for each token."""
    each = int(weights * GIB) // (layers + 1)
    per_layer = int(kv_kib * 1024 / 4 / layers)
    facts = GgufFacts(
        path=Path(f"/models/{role}-{weights}.gguf"),
        size_bytes=int(weights * GIB),
        architecture="llama" if role in {"chat", "vision"} else "bert",
        context_tokens=context,
        embedding_length=1024,
        feed_forward_length=4096,
        layers=layers,
        heads=16,
        kv_heads=8,
        vocabulary=vocabulary,
        pooling={"embed": "mean", "rerank": "rank"}.get(role),
        chat_template=role in {"chat", "vision"},
        roles=frozenset({"chat" if role == "vision" else role}),
        layer_bytes=(each,) * layers,
        other_bytes=each,
        output_bytes=each,
        kv_elements=((per_layer, per_layer),) * layers if role in {"chat", "vision"} else (),
    )
    projector = None
    if role == "vision":
        size = int((eyes or 0.9) * GIB)
        projector = GgufFacts(
            path=Path("/models/mmproj.gguf"), size_bytes=size, architecture="clip", projector=True, other_bytes=size
        )
    return RoleModel(role=role, ref=f"org/{role}/{role}-{weights}.gguf", facts=facts, projector=projector)


EMBED = model("embed", 0.3, layers=12, context=2048)
RERANK = model("rerank", 0.6, layers=24, context=8192)
VISION = model("vision", 1.2, layers=28, kv_kib=56, eyes=0.9)
CHAT_8B = model("chat", 4.6, layers=36, kv_kib=144)
CHAT_70B = model("chat", 40, layers=80, kv_kib=320)
