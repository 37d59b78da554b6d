"""What a server is to hold: the sizes that its memory depends on, and what each role asks for."""

from __future__ import annotations

from dataclasses import dataclass

from lilbee_core.types import GgufFacts, MachineSnapshot, Placement

MIN_CONTEXT = 512
COMFORT_CONTEXT = 2048
"""What a chat needs to be of use: a few passages, a question and an answer. Below it, sharing is better."""
CONTEXT_STEP = 256
_BATCH, _UBATCH = 2048, 512
_VISION_CONTEXT = 8192
_MOST_SLOTS = 4
_WHOLE = frozenset({"f32", "f16", "bf16"})


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleRule:
    """What is special about a role. Roles without a common phase are never needed at the same time."""

    rank: int
    phases: frozenset[str]
    tier: str
    elastic: bool = False
    replicable: bool = False


READING = frozenset({"embed", "rerank"})
"""The roles whose models read texts and write none."""
INGEST, QUERY = "ingest", "query"
RULES = {
    "embed": RoleRule(rank=0, phases=frozenset({INGEST, QUERY}), tier="pinned", replicable=True),
    "rerank": RoleRule(rank=0, phases=frozenset({QUERY}), tier="pinned"),
    "vision": RoleRule(rank=1, phases=frozenset({INGEST}), tier="pinned", replicable=True),
    "chat": RoleRule(rank=2, phases=frozenset({QUERY}), tier="elastic", elastic=True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RoleModel:
    """The model of a role: as the settings name it, and as its file describes it."""

    role: str
    ref: str
    facts: GgufFacts
    projector: GgufFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    """What the settings say about servers. 0 leaves a number to the planner."""

    num_ctx: int = 0
    chat_target: int = 8192
    chat_slots: int = 0
    embedding_tokens: int = 512
    embed_replicas: int = 0
    vision_replicas: int = 0
    kv_cache_type: str = "f16"
    flash_attention: bool = True
    placement: Placement | None = None

    def replicas(self, role: str) -> int:
        """Return how many servers a role shall have, or 0 to let the planner choose."""
        return {"embed": self.embed_replicas, "vision": self.vision_replicas}.get(role, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizing:
    """The sizes of one server. `layer_split` is how many layers each card of a split takes, the last step being one."""

    context_tokens: int
    slots: int = 1
    batch_tokens: int = _BATCH
    ubatch_tokens: int = _UBATCH
    kv_cache_type: str = "f16"
    flash_attention: bool = False
    gpu_layers: int = 0
    layer_split: tuple[int, ...] = ()


def wanted(model: RoleModel, options: PlanOptions, machine: MachineSnapshot) -> Sizing:
    """Return the sizes that a role asks for. Those of chat are its best ones, with one slot; they may shrink."""
    layers = 0 if machine.kind == "cpu" else model.facts.layers + 1
    if model.role == "chat":
        return Sizing(
            context_tokens=_within(model.facts, options.num_ctx or options.chat_target),
            # The engine cannot read a cache of small numbers without flash attention.
            kv_cache_type=options.kv_cache_type
            if options.flash_attention or options.kv_cache_type in _WHOLE
            else "f16",
            flash_attention=options.flash_attention,
            gpu_layers=layers,
        )
    if model.role == "vision":
        context = _within(model.facts, _VISION_CONTEXT)
        return Sizing(context_tokens=context, flash_attention=options.flash_attention, gpu_layers=layers)
    # A query is read together with each document.
    tokens = options.embedding_tokens * (2 if model.role == "rerank" else 1)
    context = _within(model.facts, max(tokens, MIN_CONTEXT))
    slots = reading_slots(machine, context)
    # A server reads no text that is longer than its physical batch.
    whole = context * slots
    return Sizing(context_tokens=context, slots=slots, batch_tokens=whole, ubatch_tokens=whole, gpu_layers=layers)


def reading_slots(machine: MachineSnapshot, context: int) -> int:
    """Return how many texts an embedder or a reranker reads at once: as many as fill a batch, but not on few cores."""
    full = max(1, min(_MOST_SLOTS, _BATCH // context))
    return full if machine.kind != "cpu" else max(1, min(full, machine.cores // 2))


def most_slots(role: str, options: PlanOptions, machine: MachineSnapshot) -> int:
    """Return how many requests a role may be served at once where there is memory for it."""
    if role == "chat" and options.chat_slots:
        return options.chat_slots
    return _MOST_SLOTS if machine.kind != "cpu" else max(1, min(2, machine.cores // 2))


def _within(facts: GgufFacts, tokens: int) -> int:
    """Return a context that the model was made for."""
    return min(tokens, facts.context_tokens) if facts.context_tokens else tokens
