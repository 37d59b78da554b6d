"""Cards as engines list them, and the variables that show a child the right ones (R096-R098)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.fleet._cards import parse_devices, probe_environment, visible_environment
from lilbee_core.fleet._machine import Memory, snapshot
from lilbee_core.types import Device

MIB = 1 << 20
CUDA = """ggml_cuda_init: found 2 CUDA devices (Total VRAM: 35936 MiB):
  Device 0: NVIDIA GeForce RTX 3080 Ti, compute capability 8.6, VMM: yes, VRAM: 11909 MiB
  Device 1: NVIDIA RTX 4000 SFF Ada Generation, compute capability 8.9, VMM: yes, VRAM: 20475 MiB
Available devices:
  CUDA0: NVIDIA GeForce RTX 3080 Ti (11909 MiB, 11650 MiB free)
  CUDA1: NVIDIA RTX 4000 SFF Ada Generation (20475 MiB, 20100 MiB free)
"""
ROCM = """Available devices:
  ROCm0: AMD Radeon RX 7900 XTX (24560 MiB, 24310 MiB free)
"""
VULKAN = """ggml_vulkan: Found 2 Vulkan devices:
ggml_vulkan: 0 = NVIDIA GeForce RTX 2060 (NVIDIA) | uma: 0 | fp16: 1 | warp size: 32
Available devices:
  Vulkan0: NVIDIA GeForce RTX 2060 (6144 MiB, 5136 MiB free)
  Vulkan1: AMD Radeon Graphics (RADV RENOIR) (15948 MiB, 15000 MiB free)
"""
METAL = """ggml_metal_device_init: recommendedMaxWorkingSetSize  = 103079.22 MB
Available devices:
  MTL0: Apple M4 Max (98304 MiB, 98303 MiB free)
  BLAS: Accelerate (0 MiB, 0 MiB free)
"""
OLD_METAL = """Available devices:
  Metal: Apple M1 (10922 MiB, 10922 MiB free)
"""
SEVERAL = """Available devices:
  Vulkan0: NVIDIA GeForce RTX 4090 (24564 MiB, 24000 MiB free)
  CUDA0: NVIDIA GeForce RTX 4090 (24080 MiB, 23900 MiB free)
  RPC0: 192.168.1.7:50052 (8000 MiB, 8000 MiB free)
"""
MEMORY = Memory(total_bytes=64 << 30, free_bytes=48 << 30)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (CUDA, ["CUDA0", "CUDA1"]),
        (ROCM, ["ROCm0"]),
        (VULKAN, ["Vulkan0", "Vulkan1"]),
        (METAL, ["Metal0"]),
        (OLD_METAL, ["Metal0"]),
        (SEVERAL, ["CUDA0"]),
        ("Available devices:\n  (none)\n", []),
        ("", []),
        ("Available devices:\n  Vulkan0: llvmpipe (LLVM 15.0.6, 256 bits) (15000 MiB, 15000 MiB free)\n", []),
        ("Available devices:\n  CUDA0: broken line\n", []),
    ],
)
def test_the_list_of_an_engine(text: str, labels: list[str]) -> None:
    assert [one.label for one in parse_devices(text)] == labels


def test_names_and_memory_are_read() -> None:
    first, second = parse_devices(CUDA)
    assert first == Device(
        backend="CUDA",
        index=0,
        name="NVIDIA GeForce RTX 3080 Ti",
        total_bytes=11909 * MIB,
        free_bytes=11650 * MIB,
    )
    assert str(second) == "CUDA1: NVIDIA RTX 4000 SFF Ada Generation (19.6 GiB free, 20.0 GiB total)"
    (odd,) = parse_devices("  Vulkan0: AMD Radeon RX 6800 (RADV NAVI21) (16384 MiB, 20000 MiB free)\n")
    assert odd.name == "AMD Radeon RX 6800 (RADV NAVI21)"
    assert odd.free_bytes == odd.total_bytes


@pytest.mark.parametrize(
    ("name", "shared"),
    [
        ("NVIDIA GeForce RTX 4090", False),
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", False),
        ("Intel(R) Arc(TM) A770 Graphics (DG2)", False),
        ("Tesla V100-SXM2-32GB", False),
        ("AMD Radeon Graphics (RADV RENOIR)", True),
        ("AMD Radeon(TM) Graphics", True),
        ("AMD Radeon 780M Graphics (RADV PHOENIX)", True),
        ("AMD Radeon(TM) 8060S Graphics", True),
        ("Intel(R) UHD Graphics 770 (ADL-S GT1)", True),
        ("Intel(R) Iris(R) Xe Graphics (TGL GT2)", True),
        ("Intel(R) Arc(TM) Graphics (MTL)", True),
        ("NVIDIA GB10", True),
        ("Orin", True),
        ("V3D 7.1.10", True),
    ],
)
def test_cards_that_share_the_memory_of_the_system(name: str, shared: bool) -> None:
    (one,) = parse_devices(f"  Vulkan0: {name} (16384 MiB, 16000 MiB free)\n")
    assert one.unified is shared


def test_a_machine_of_either_kind() -> None:
    own = snapshot(VULKAN, {}, memory=MEMORY, cores=8)
    assert own.kind == "gpu"
    assert [one.label for one in own.devices] == ["Vulkan0"]
    assert own.accelerator is None
    shared = snapshot(METAL, {}, memory=MEMORY, cores=8)
    assert shared.kind == "unified"
    assert shared.devices == ()
    assert shared.accelerator is not None
    assert shared.accelerator.name == "Apple M4 Max"
    bare = snapshot("(none)", {}, memory=MEMORY, cores=2)
    assert bare.kind == "cpu"
    assert (bare.free_ram_bytes, bare.total_ram_bytes, bare.cores) == (48 << 30, 64 << 30, 2)


# ---------------------------------------------------------------------------------------------------- pinning


def _cards(backend: str, *indices: int) -> list[Device]:
    return [Device(backend=backend, index=one, name="card", total_bytes=1, free_bytes=1) for one in indices]


@pytest.mark.parametrize(
    ("backend", "indices", "environment", "told"),
    [
        ("CUDA", (1,), {}, {"CUDA_VISIBLE_DEVICES": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        ("CUDA", (0, 2), {}, {"CUDA_VISIBLE_DEVICES": "0,2", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}),
        (
            "CUDA",
            (0,),
            {"CUDA_DEVICE_ORDER": "FASTEST_FIRST"},
            {"CUDA_VISIBLE_DEVICES": "0", "CUDA_DEVICE_ORDER": "FASTEST_FIRST"},
        ),
        # A pod that may use cards 2 and 3: what is listed as card 1 is card 3 of the machine.
        (
            "CUDA",
            (1,),
            {"CUDA_VISIBLE_DEVICES": "2,3"},
            {"CUDA_VISIBLE_DEVICES": "3", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
        ),
        (
            "CUDA",
            (0, 1),
            {"CUDA_VISIBLE_DEVICES": "GPU-5f3a, GPU-9c1d"},
            {"CUDA_VISIBLE_DEVICES": "GPU-5f3a,GPU-9c1d", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"},
        ),
        ("ROCm", (0,), {}, {"HIP_VISIBLE_DEVICES": "0"}),
        ("ROCm", (1,), {"ROCR_VISIBLE_DEVICES": "4,6"}, {"ROCR_VISIBLE_DEVICES": "6"}),
        # The second list counts within the first one, which stays.
        (
            "ROCm",
            (0,),
            {"ROCR_VISIBLE_DEVICES": "4,6", "HIP_VISIBLE_DEVICES": "1"},
            {"HIP_VISIBLE_DEVICES": "1"},
        ),
        ("Vulkan", (1,), {}, {"GGML_VK_VISIBLE_DEVICES": "1"}),
        ("Vulkan", (0,), {"GGML_VK_VISIBLE_DEVICES": "3"}, {"GGML_VK_VISIBLE_DEVICES": "3"}),
        # An index never crosses from one backend to another.
        ("Vulkan", (1,), {"CUDA_VISIBLE_DEVICES": "2,3"}, {"GGML_VK_VISIBLE_DEVICES": "1"}),
        ("Metal", (0,), {}, {}),
        ("SYCL", (0,), {}, {}),
        ("CUDA", (), {}, {}),
    ],
)
def test_a_child_sees_the_cards_it_is_for(
    backend: str, indices: tuple[int, ...], environment: dict[str, str], told: dict[str, str]
) -> None:
    assert dict(visible_environment(_cards(backend, *indices), environment)) == told


def test_cards_named_by_uuid_keep_it() -> None:
    first, second = parse_devices(CUDA, {"CUDA_VISIBLE_DEVICES": "GPU-5f3a,1"})
    assert (first.uuid, second.uuid) == ("GPU-5f3a", None)


def test_what_follows_an_entry_that_hides_the_rest_is_not_there() -> None:
    environment = {"CUDA_VISIBLE_DEVICES": "3,-1,5"}
    assert dict(visible_environment(_cards("CUDA", 0), environment))["CUDA_VISIBLE_DEVICES"] == "3"


def test_the_list_is_asked_for_in_the_order_in_which_cards_are_used() -> None:
    assert probe_environment({}) == {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
    assert probe_environment({"CUDA_DEVICE_ORDER": "FASTEST_FIRST"}) == {}


@given(st.lists(st.integers(0, 15), min_size=1, max_size=8, unique=True), st.data())
def test_every_card_stays_the_same_physical_one(physical: list[int], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(physical) - 1), min_size=1, unique=True))
    environment = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, physical))}
    told = dict(visible_environment(_cards("CUDA", *chosen), environment))["CUDA_VISIBLE_DEVICES"]
    assert [int(one) for one in told.split(",")] == [physical[one] for one in chosen]
