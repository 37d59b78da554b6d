"""The fleet and its parts fit the protocols that others ask for. Read by mypy and pyright, never run."""

from __future__ import annotations

from lilbee_core.clock import SystemClock
from lilbee_core.fleet import Fleet, FleetChat, FleetEmbedding, FleetRerank, FleetVision, ModelPlanner, Planner
from lilbee_core.fleet._adopting import AdoptedProcess
from lilbee_core.fleet._launcher import SystemLauncher, SystemProcess
from lilbee_core.fleet._probe import HttpProbe, Probe
from lilbee_core.fleet._reaper import Processes, SystemProcesses
from lilbee_core.fleet._roles import Leasing
from lilbee_core.protocols import (
    ChatProvider,
    Clock,
    EmbeddingProvider,
    FleetLike,
    Launcher,
    ProcessHandle,
    RerankProvider,
    VisionProvider,
)


def conform(
    fleet: Fleet,
    planner: ModelPlanner,
    embedding: FleetEmbedding,
    reranking: FleetRerank,
    chatting: FleetChat,
    seeing: FleetVision,
    process: SystemProcess,
    adopted: AdoptedProcess,
) -> None:
    like: FleetLike = fleet
    leasing: Leasing = fleet
    plans: Planner = planner
    embed: EmbeddingProvider = embedding
    rerank: RerankProvider = reranking
    chat: ChatProvider = chatting
    vision: VisionProvider = seeing
    launcher: Launcher = SystemLauncher()
    handles: tuple[ProcessHandle, ProcessHandle] = (process, adopted)
    probe: Probe = HttpProbe()
    processes: Processes = SystemProcesses()
    clock: Clock = SystemClock()
    del like, leasing, plans, embed, rerank, chat, vision, launcher, handles, probe, processes, clock
