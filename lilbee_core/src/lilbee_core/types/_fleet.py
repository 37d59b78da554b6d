"""Devices, model files, and the plan of which server runs where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GIB = 1 << 30
FLEET_ROLES = ("embed", "rerank", "vision", "chat")
"""The roles that servers are planned for, in the order in which they get memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """A card that models can be loaded into, as the engine's own list names it.

    `index` belongs to `backend` alone: the same card has another index in another backend. `backend` is spelled as in
    the list (``CUDA``, ``ROCm``, ``Vulkan``, ``Metal``). `unified` is a card that shares the system's memory.
    """

    backend: str
    index: int
    name: str
    total_bytes: int
    free_bytes: int
    uuid: str | None = None
    unified: bool = False

    @property
    def label(self) -> str:
        """The name that the engine knows the card by, such as ``CUDA0``."""
        return f"{self.backend}{self.index}"

    def __str__(self) -> str:
        return f"{self.label}: {self.name} ({gib(self.free_bytes)} free, {gib(self.total_bytes)} total)"

    def to_dict(self) -> dict[str, object]:
        return {
            "label": self.label,
            "backend": self.backend,
            "index": self.index,
            "name": self.name,
            "total_bytes": self.total_bytes,
            "free_bytes": self.free_bytes,
            "uuid": self.uuid,
            "unified": self.unified,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineSnapshot:
    """What a machine had to offer at one moment. A plan is a pure function of it, of the models and of the settings.

    `devices` are cards with memory of their own, all of one backend. None of them: models share the system's memory,
    with `accelerator` naming a card that shares it too (Metal), or None where the processor does all the work.
    """

    devices: tuple[Device, ...] = ()
    total_ram_bytes: int
    free_ram_bytes: int
    cores: int = 1
    accelerator: Device | None = None

    @property
    def kind(self) -> str:
        """``gpu``, ``unified`` or ``cpu``."""
        if self.devices:
            return "gpu"
        return "unified" if self.accelerator is not None else "cpu"

    def device(self, index: int) -> Device | None:
        """Return the card with an index, or None."""
        return next((one for one in self.devices if one.index == index), None)

    def to_dict(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "devices": [one.to_dict() for one in self.devices],
            "accelerator": self.accelerator.to_dict() if self.accelerator else None,
            "total_ram_bytes": self.total_ram_bytes,
            "free_ram_bytes": self.free_ram_bytes,
            "cores": self.cores,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class GgufFacts:
    """What a model file says of itself.

    `layer_bytes` are the weights of each layer, `other_bytes` those outside of layers, and `output_bytes` what of
    them belongs to the last step, which goes to a card like a layer. `kv_elements` are the numbers that a token leaves
    in the cache, per layer, keys and values; a layer that keeps none has ``(0, 0)``, and one of `windowed` layers
    keeps no more than the last `window` tokens. `roles` are what the file can serve; `projector` is the file that
    gives a vision model its eyes, which can serve nothing by itself: it fits models whose `embedding_length` is its
    `projection_length`.
    """

    path: Path
    size_bytes: int
    architecture: str
    name: str = ""
    quantization: str = ""
    parameters: int = 0
    context_tokens: int = 0
    embedding_length: int = 0
    feed_forward_length: int = 0
    layers: int = 0
    heads: int = 0
    kv_heads: int = 0
    vocabulary: int = 0
    experts: int = 0
    pooling: str | None = None
    chat_template: bool = False
    tools: bool = False
    thinking: bool = False
    projector: bool = False
    roles: frozenset[str] = frozenset()
    languages: tuple[str, ...] = ()
    license: str = ""
    layer_bytes: tuple[int, ...] = ()
    other_bytes: int = 0
    output_bytes: int = 0
    projection_length: int = 0
    kv_elements: tuple[tuple[int, int], ...] = ()
    window: int = 0
    windowed: tuple[bool, ...] = ()
    parts: tuple[Path, ...] = ()

    @property
    def weights_bytes(self) -> int:
        """All weights of the model."""
        return sum(self.layer_bytes) + self.other_bytes

    def to_dict(self) -> dict[str, object]:
        return {
            "path": self.path.as_posix(),
            "size_bytes": self.size_bytes,
            "architecture": self.architecture,
            "name": self.name,
            "quantization": self.quantization,
            "parameters": self.parameters,
            "context_tokens": self.context_tokens,
            "embedding_length": self.embedding_length,
            "layers": self.layers,
            "heads": self.heads,
            "kv_heads": self.kv_heads,
            "vocabulary": self.vocabulary,
            "experts": self.experts,
            "pooling": self.pooling,
            "chat_template": self.chat_template,
            "tools": self.tools,
            "thinking": self.thinking,
            "projector": self.projector,
            "roles": sorted(self.roles),
            "languages": list(self.languages),
            "license": self.license,
            "parts": [one.as_posix() for one in self.parts],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFootprint:
    """Memory that a running server takes, by an estimate.

    `discrete_bytes` land in the memory of cards, `unified_bytes` in a memory that the system shares. `shares` are the
    discrete bytes of each card of a split, in the order of the cards; they need not add up to `discrete_bytes`, since
    each card has buffers of its own. `source` says whose estimate it is.
    """

    weights_bytes: int
    kv_bytes: int
    compute_bytes: int
    projector_bytes: int = 0
    kv_bytes_per_token: int = 0
    discrete_bytes: int
    unified_bytes: int
    shares: tuple[int, ...] = ()
    source: str = "lilbee"

    @property
    def peak_bytes(self) -> int:
        """What the fullest card holds."""
        return max(self.shares, default=self.discrete_bytes)

    def to_dict(self) -> dict[str, object]:
        return {
            "weights_bytes": self.weights_bytes,
            "kv_bytes": self.kv_bytes,
            "compute_bytes": self.compute_bytes,
            "projector_bytes": self.projector_bytes,
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "discrete_bytes": self.discrete_bytes,
            "unified_bytes": self.unified_bytes,
            "shares": list(self.shares),
            "source": self.source,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedServer:
    """One server of the plan: all that its command line is made of, apart from ports, keys and the program.

    `devices` are labels (``CUDA0``) on the planning side; the process sees only these cards, numbered from 0, because
    `environment` hides the others. `context_tokens` is what one request may use: the server is started with
    `context_tokens` times `slots`. `tier` is ``pinned`` (gets memory first), ``elastic`` (chat, charged last) or
    ``replica``.
    """

    role: str
    replica: int = 0
    model: str
    model_file: Path
    projector_file: Path | None = None
    devices: tuple[str, ...] = ()
    tensor_split: tuple[float, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()
    context_tokens: int = 512
    slots: int = 1
    batch_tokens: int = 2048
    ubatch_tokens: int = 512
    gpu_layers: int = 0
    threads: int | None = None
    mmap: bool = True
    flash_attention: bool = True
    kv_cache_type: str = "f16"
    pooling: str | None = None
    group: str = ""
    tier: str = "pinned"
    footprint: ModelFootprint
    tight: bool = False
    warnings: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """The server's name within the fleet, such as ``embed-0``."""
        return f"{self.role}-{self.replica}"

    @property
    def visible_devices(self) -> tuple[str, ...]:
        """The names of the cards as the process sees them: numbered from 0 where the others are hidden from it."""
        if not self.environment:
            return self.devices
        return tuple(f"{one.rstrip('0123456789')}{at}" for at, one in enumerate(self.devices))

    @property
    def launch_key(self) -> tuple[object, ...]:
        """Everything that a restart is needed for when it changes; estimates and warnings are not."""
        skipped = {"footprint", "tight", "warnings", "tier"}
        return tuple(getattr(self, name) for name in self.__slots__ if name not in skipped)

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "role": self.role,
            "replica": self.replica,
            "model": self.model,
            "model_file": self.model_file.as_posix(),
            "projector_file": self.projector_file.as_posix() if self.projector_file else None,
            "devices": list(self.devices),
            "tensor_split": list(self.tensor_split),
            "context_tokens": self.context_tokens,
            "slots": self.slots,
            "batch_tokens": self.batch_tokens,
            "ubatch_tokens": self.ubatch_tokens,
            "gpu_layers": self.gpu_layers,
            "threads": self.threads,
            "mmap": self.mmap,
            "flash_attention": self.flash_attention,
            "kv_cache_type": self.kv_cache_type,
            "pooling": self.pooling,
            "group": self.group,
            "tier": self.tier,
            "footprint": self.footprint.to_dict(),
            "tight": self.tight,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerGroup:
    """Servers that are started, stopped and watched together. With `swap`, only one of them is loaded at a time."""

    name: str
    servers: tuple[str, ...]
    swap: bool = False

    def to_dict(self) -> dict[str, object]:
        return {"name": self.name, "servers": list(self.servers), "swap": self.swap}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A role that gets no server, and why: ``code`` is stable, ``reason`` is for people, ``hint`` says what to do."""

    role: str
    model: str
    code: str
    reason: str
    hint: str = ""
    needed_bytes: int | None = None
    free_bytes: int | None = None

    def to_dict(self) -> dict[str, object]:
        return {
            "role": self.role,
            "model": self.model,
            "code": self.code,
            "reason": self.reason,
            "hint": self.hint,
            "needed_bytes": self.needed_bytes,
            "free_bytes": self.free_bytes,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetPlan:
    """Which servers run where. `manual` says that a placement of the user replaced the planner."""

    machine: MachineSnapshot
    servers: tuple[PlacedServer, ...] = ()
    groups: tuple[ServerGroup, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    warnings: tuple[str, ...] = ()
    manual: bool = False

    def of_role(self, role: str) -> tuple[PlacedServer, ...]:
        """Return the servers of a role, by replica."""
        return tuple(one for one in self.servers if one.role == role)

    def members(self, group: str) -> tuple[PlacedServer, ...]:
        """Return the servers of a group."""
        return tuple(one for one in self.servers if one.group == group)

    def refusal(self, role: str) -> Refusal | None:
        """Return why a role has no server, or None if nothing refused it."""
        return next((one for one in self.refusals if one.role == role), None)

    def charged(self, label: str) -> int:
        """Return the bytes that the plan puts on a card at most; of a swap group only the largest member counts."""
        total = 0
        for group in self.groups:
            charges = [share for one in self.members(group.name) for share in _shares_on(one, label)]
            total += (max(charges, default=0)) if group.swap else sum(charges)
        return total

    def to_dict(self) -> dict[str, object]:
        return {
            "manual": self.manual,
            "machine": self.machine.to_dict(),
            "servers": [one.to_dict() for one in self.servers],
            "groups": [one.to_dict() for one in self.groups],
            "refusals": [one.to_dict() for one in self.refusals],
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadProgress:
    """How far a server is: ``waiting``, ``starting``, ``loading`` or ``ready``; bytes of its weights, if known."""

    phase: str
    bytes_read: int = 0
    bytes_total: int = 0

    @property
    def fraction(self) -> float:
        """From 0 to 1; 1 only when it is ready."""
        if self.phase == "ready":
            return 1.0
        return min(self.bytes_read / self.bytes_total, 0.99) if self.bytes_total else 0.0

    def to_dict(self) -> dict[str, object]:
        return {
            "phase": self.phase,
            "bytes_read": self.bytes_read,
            "bytes_total": self.bytes_total,
            "fraction": self.fraction,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """A server of the fleet now. `state` is ``stopped``, ``starting``, ``ready``, ``failed`` or ``stopping``."""

    id: str
    role: str
    model: str
    state: str
    group: str = ""
    pid: int | None = None
    url: str = ""
    devices: tuple[str, ...] = ()
    context_tokens: int = 0
    slots: int = 1
    in_flight: int = 0
    starts: int = 0
    cooling: bool = False
    adopted: bool = False
    detached: bool = False
    owner_pid: int | None = None
    idle_s: float | None = None
    log_file: str = ""
    error: str = ""

    def to_dict(self) -> dict[str, object]:
        return {
            "id": self.id,
            "role": self.role,
            "model": self.model,
            "state": self.state,
            "group": self.group,
            "pid": self.pid,
            "url": self.url,
            "devices": list(self.devices),
            "context_tokens": self.context_tokens,
            "slots": self.slots,
            "in_flight": self.in_flight,
            "starts": self.starts,
            "cooling": self.cooling,
            "adopted": self.adopted,
            "detached": self.detached,
            "owner_pid": self.owner_pid,
            "idle_s": self.idle_s,
            "log_file": self.log_file,
            "error": self.error,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanChange:
    """What has to happen to the groups of a running fleet for a new plan; all by name, in the order of the plans."""

    kept: tuple[str, ...] = ()
    started: tuple[str, ...] = ()
    restarted: tuple[str, ...] = ()
    stopped: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, object]:
        return {name: list(getattr(self, name)) for name in self.__slots__}


@dataclass(frozen=True, slots=True, kw_only=True)
class RolePlacement:
    """Where the user wants a role: the indices of cards, how to split the model over them, how many servers."""

    devices: tuple[int, ...]
    tensor_split: tuple[float, ...] = ()
    replicas: int = 1

    def to_dict(self) -> dict[str, object]:
        values: dict[str, object] = {"devices": list(self.devices)}
        if self.tensor_split:
            values["tensor_split"] = list(self.tensor_split)
        if self.replicas != 1:
            values["replicas"] = self.replicas
        return values


@dataclass(frozen=True, slots=True)
class Placement:
    """A placement that the user chose, by role. It replaces the planner for all roles."""

    roles: tuple[tuple[str, RolePlacement], ...] = ()

    def get(self, role: str) -> RolePlacement | None:
        """Return where a role goes, or None if the placement leaves it out."""
        return dict(self.roles).get(role)

    def __iter__(self) -> Iterator[tuple[str, RolePlacement]]:
        return iter(self.roles)

    def to_dict(self) -> dict[str, object]:
        return {role: one.to_dict() for role, one in self.roles}


def gib(amount: int) -> str:
    """Return bytes for people: ``23.7 GiB``."""
    return f"{amount / GIB:.1f} GiB"


def _shares_on(server: PlacedServer, label: str) -> list[int]:
    if label not in server.devices:
        return []
    if len(server.devices) == 1:
        return [server.footprint.discrete_bytes]
    return [server.footprint.shares[server.devices.index(label)]]
