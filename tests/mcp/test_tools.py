"""What agents are offered, how big it is, and what the tools do (R266, R267, R268, R269, R272, R273, R274)."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import ListToolsResult

from lilbee_core import Lilbee
from lilbee_core.aio import Threads
from lilbee_core.errors import InvalidArgument
from lilbee_core.testing import HashEmbedder
from lilbee_core.types import Delta
from lilbee_mcp.desk import Replies
from lilbee_mcp.failures import Busy
from lilbee_mcp.offers import RESULT_CHARS
from lilbee_mcp.server import GROUPS, build_server
from tests.mcp.conftest import call, talk, told

DEFAULT = ["search", "ask", "read", "list_documents", "status", "add", "sync", "remove", "job_status"]
MOST_BYTES = 5_000
MOST_LIST_BYTES = 12_000


def tools_of(library: Lilbee, *enable: str) -> ListToolsResult:
    return talk(library, lambda client: client.list_tools(), enable=enable)


def size(tools: ListToolsResult) -> int:
    """Return the bytes of what a model is shown: name, description and input schema of each tool."""
    shown = [{"name": one.name, "description": one.description, "inputSchema": one.input_schema} for one in tools.tools]
    return len(json.dumps(shown, separators=(",", ":")).encode())


def test_the_default_tools_are_these_and_small(shared: Lilbee) -> None:
    tools = tools_of(shared)
    assert [one.name for one in tools.tools] == DEFAULT
    assert size(tools) <= MOST_BYTES
    assert len(tools.model_dump_json(by_alias=True, exclude_none=True).encode()) <= MOST_LIST_BYTES
    assert '"title":"' not in json.dumps([one.input_schema for one in tools.tools], separators=(",", ":"))


def test_even_all_tools_are_not_much(shared: Lilbee) -> None:
    every = tools_of(shared, *GROUPS)
    assert len({one.name for one in every.tools}) == len(every.tools) > 25
    assert len(every.model_dump_json(by_alias=True, exclude_none=True).encode()) <= MOST_LIST_BYTES + 1_000
    for one in every.tools:
        assert 1 <= (one.description or "").count(".") <= 8, one.name


def test_what_changes_something_says_so(shared: Lilbee) -> None:
    marks = {one.name: one.annotations for one in tools_of(shared, *GROUPS).tools}
    reading = {name for name, one in marks.items() if one is not None and one.read_only_hint}
    destroying = {name for name, one in marks.items() if one is not None and one.destructive_hint}
    assert {"search", "ask", "read", "list_documents", "status", "job_status", "crawl_status"} <= reading
    assert destroying == {"remove", "model_rm", "placement_set", "placement_clear", "reset"}
    assert not reading & destroying
    assert {name for name, one in marks.items() if one is not None and one.open_world_hint} == {
        "crawl",
        "model_show",
        "model_pull",
    }


def test_what_reaches_further_is_there_only_where_somebody_allowed_it(shared: Lilbee) -> None:
    for group, tool in (("crawl", "crawl_status"), ("wiki", "wiki_read"), ("model", "model_pull"), ("init", "init")):
        assert tool in [one.name for one in tools_of(shared, group).tools]
        refused = call(shared, tool, {})
        assert refused.structured_content["error"]["code"] == "argument.invalid"
    with pytest.raises(InvalidArgument, match="no tools called 'web'"):
        build_server(shared, enable=("web",))


def test_a_setting_of_the_user_offers_more_tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LILBEE_MCP_TOOLS", "wiki,reset")
    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee:
        names = [one.name for one in tools_of(bee).tools]
        assert {"wiki_list", "wiki_lint", "reset"} <= set(names)
        assert "crawl" not in names
        unconfirmed = call(bee, "reset", {})
        assert unconfirmed.structured_content["error"]["code"] == "argument.invalid"


def test_the_rest_of_the_tools_work(own: Lilbee, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each tool beyond the usual ones says what its command says, or why it cannot (R266, R267, R268, R269)."""
    monkeypatch.setenv("LILBEE_MODELS_DIR", str(tmp_path / "models"))
    page = tmp_path / "data" / "wiki" / "concepts" / "honey.md"
    page.parent.mkdir(parents=True)
    page.write_text("---\ntitle: Honey\n---\n\n# Honey\n\nBees make it.\n", encoding="utf-8")
    found: dict[str, Any] = {}

    async def work(client: Client) -> None:
        for name, arguments in (
            ("wiki_list", {}), ("wiki_read", {"slug": "honey"}), ("wiki_citations", {"slug": "honey"}),
            ("wiki_lint", {}), ("wiki_prune", {}), ("wiki_drafts_list", {}), ("wiki_drafts_diff", {"slug": "x"}),
            ("wiki_read", {"slug": "../../bees"}), ("model_list", {"task": "embedding"}),
            ("model_list", {"task": "cooking"}), ("model_show", {"model": "nothing.gguf"}),
            ("model_rm", {"model": "nothing.gguf"}), ("placement_gpus", {}),
            ("placement_preview", {"placement": {"x": 1}}), ("init", {}), ("reset", {"confirm": True}),
        ):  # fmt: skip
            result = await client.call_tool(name, arguments)
            key = f"{name} {sorted(arguments.values(), key=str)}"
            found[key] = (
                result.structured_content if not result.is_error else result.structured_content["error"]["code"]
            )

    talk(own, work, enable=GROUPS)
    assert [one["slug"] for one in found["wiki_list []"]["pages"]] == ["honey"]
    assert "Bees make it" in found["wiki_read ['honey']"]["body"]
    assert found["wiki_citations ['honey']"]["citations"] == []
    assert found["wiki_drafts_list []"]["pages"] == []
    assert found["wiki_drafts_diff ['x']"] == found["wiki_read ['../../bees']"] == "library.not_found"
    assert found["model_list ['embedding']"]["models"][0]["installed"]
    assert found["model_list ['cooking']"] == "argument.invalid"
    assert found["model_show ['nothing.gguf']"] == found["model_rm ['nothing.gguf']"] == "provider.model_not_found"
    assert found["placement_preview [{'x': 1}]"] in {"fleet.placement", "fleet.no_engine", "argument.invalid"}
    assert found["init []"]["folder"] == str(own.root)
    assert found["reset [True]"]["state"] == "done"


def test_hits_are_paged(shared: Lilbee) -> None:
    whole = told(shared, "search", query="zebra", top_k=9)["hits"]
    first = told(shared, "search", query="zebra", top_k=4)
    rest = told(shared, "search", query="zebra", top_k=4, offset=first["next_offset"])
    assert [one["text"] for one in first["hits"] + rest["hits"]] == [one["text"] for one in whole[:8]]
    assert "next_offset" not in told(shared, "search", query="treasure under the oak term:", top_k=50, offset=40)


def test_results_fit_a_small_context(shared: Lilbee) -> None:
    assert len(json.dumps(told(shared, "search", query="zebra", top_k=50))) < RESULT_CHARS * 1.5
    assert len(json.dumps(told(shared, "read", document="long.md"))) < RESULT_CHARS * 1.2


def test_a_long_document_is_read_in_parts_that_join(shared: Lilbee) -> None:
    parts, offset, lines = [], 0, 0
    while True:
        part = told(shared, "read", document="long.md", offset=offset)
        assert part["line_start"] == lines + 1
        parts.append(part["text"])
        lines = part["line_end"]
        if "next_offset" not in part:
            break
        offset = part["next_offset"]
    assert len(parts) > 1
    assert "".join(parts) == str(shared.get_text("long.md"))


def test_a_part_is_read_by_its_place(shared: Lilbee) -> None:
    part = told(shared, "read", document="bees.md", place="3", around=1)
    assert (part["path"], part["line_start"], part["line_end"]) == ("bees.md", 2, 4)
    assert "lays eggs" in part["text"]


def test_documents_are_paged(shared: Lilbee) -> None:
    first = told(shared, "list_documents", limit=3)
    rest = told(shared, "list_documents", limit=3, offset=first["next_offset"])
    assert "next_offset" not in rest
    paths = [one["path"] for one in first["documents"] + rest["documents"]]
    assert sorted(paths) == ["bees.md", "long.md", "secret.md", "wörter und mehr.txt"]


def test_an_answer_has_marks_that_are_explained(shared: Lilbee) -> None:
    answer = told(shared, "ask", question="When does the queen lay eggs?", paths=["bees.md"])
    assert answer["found"]
    cited = answer["citations"][0]
    assert (cited["marker"], cited["path"]) == (1, "bees.md")
    assert "spring" in cited["quote"]
    assert f"[{cited['marker']}]" in answer["answer"]


def test_files_are_added_synced_and_removed(own: Lilbee, tmp_path: Path) -> None:
    (tmp_path / "notes" / "new.md").write_text("Fresh clover.\n", encoding="utf-8")
    added = told(own, "add", paths=["new.md"])
    assert (added["state"], added["added"]) == ("done", 1)
    assert told(own, "search", query="fresh clover")["hits"][0]["path"] == "new.md"
    assert told(own, "remove", documents=["new.md"]) == {"removed": ["notes/new.md"], "removed_count": 1}
    assert told(own, "sync")["state"] == "done"
    states = {one["path"]: one["state"] for one in told(own, "list_documents")["documents"]}
    assert states["new.md"] == "excluded"
    jobs = told(own, "job_status")["jobs"]
    assert [one["kind"] for one in jobs] == ["sync", "add"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("/etc/hostname", "server.forbidden"),
        ("../outside.md", "server.forbidden"),
        ("~/outside.md", "library.not_found"),
        ("link.md", "library.not_found"),
        ("{root}/link.md", "server.forbidden"),
        ("{root}/../notes/../outside.md", "server.forbidden"),
        ("C:\\Windows\\win.ini", "library.not_found"),
        ("\\\\server\\share\\x", "library.not_found"),
        ("file:///etc/hostname", "argument.invalid"),
        ("https://example.org/", "argument.invalid"),
        ("a\0b", "argument.invalid"),
        ("", "argument.invalid"),
        ("gone.md", "library.not_found"),
        ("n" * 5_000, "library.not_found"),
    ],
)
def test_no_path_leads_out_of_the_collections(shared: Lilbee, path: str, code: str) -> None:
    assert shared.root is not None
    outside = shared.root.parent / "outside.md"
    link = shared.root / "link.md"
    outside.write_text("not yours", encoding="utf-8")
    link.symlink_to(outside)
    try:
        refused = call(shared, "add", {"paths": ["bees.md", path.replace("{root}", str(shared.root))]})
    finally:
        link.unlink()
    assert refused.structured_content["error"]["code"] == code
    assert not any(one.kind == "add" for one in shared.jobs.list())


def test_work_that_takes_long_tells_how_far_it_is(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.md").write_text(f"Document {number} about bees.", encoding="utf-8")
    seen: list[tuple[float, float | None, str | None]] = []

    async def listen(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    with Lilbee(tmp_path, embedder=HashEmbedder()) as bee:
        done = talk(bee, lambda client: client.call_tool("sync", {}, progress_callback=listen))
    assert done.structured_content["added"] == 200
    numbers = [one[0] for one in seen]
    assert numbers == sorted(set(numbers))
    assert seen


def test_a_wait_ends_and_the_job_goes_on(own: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    """What takes longer than the client likes to wait goes on, and is asked for by its id."""
    gate = threading.Event()
    slow_down(own, gate, monkeypatch)
    waiting = told(own, "sync", wait_s=0)
    assert waiting["state"] in {"queued", "running"}
    assert "job_status" in waiting["next"]
    assert [one["job"] for one in told(own, "status")["jobs"]] == [waiting["job"]]
    gate.set()
    assert told(own, "job_status", job=waiting["job"], wait_s=30)["state"] == "done"


def slow_down(library: Lilbee, gate: threading.Event, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no job of a library begin before a gate is open."""
    from lilbee_core.jobs import Jobs

    begin = Jobs._work

    def held(self: Jobs, job: Any) -> None:
        while not gate.wait(0.01):
            if job._cancel.is_set():
                break
        begin(self, job)

    monkeypatch.setattr(Jobs, "_work", held)


def test_a_call_that_is_cancelled_ends_its_job_and_blocks_nobody(own: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    slow_down(own, gate, monkeypatch)

    async def work(client: Client) -> Any:
        with anyio.move_on_after(0.5):
            await client.call_tool("sync", {"wait_s": 40})
        return await client.call_tool("search", {"query": "queen"})

    try:
        found = talk(own, work)
        job = own.jobs.require(own.jobs.list()[0].id)
        assert not found.is_error
        assert job.wait(10).state == "cancelled"
    finally:
        gate.set()


class Slow:
    """A chat model that writes until nobody listens, and remembers that it stopped."""

    def __init__(self) -> None:
        self.begun, self.stopped = threading.Event(), threading.Event()

    def __call__(self, *_: Any, **__: Any) -> Any:
        try:
            while True:
                self.begun.set()
                yield Delta(kind="text", text="word ")
                self.stopped.wait(0.005)
        finally:
            self.stopped.set()


def test_an_answer_that_nobody_waits_for_is_not_written_on(own: Lilbee, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Slow()
    monkeypatch.setattr(type(own), "ask_stream", slow)

    async def work(client: Client) -> Any:
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "ask", {"question": "forever?"})
            await anyio.to_thread.run_sync(slow.begun.wait)
            quick = await client.call_tool("search", {"query": "queen"})
            group.cancel_scope.cancel()
        return quick

    assert not talk(own, work).is_error
    assert slow.stopped.wait(5)


def test_answers_are_written_one_at_a_time_and_who_waits_too_long_is_told() -> None:
    """What a model writes takes its turn (R272)."""
    open_, most, order = [0], [0], list[str]()

    def reply(name: str) -> Callable[[], Iterator[Delta]]:
        def write() -> Iterator[Delta]:
            open_[0] += 1
            most[0] = max(most[0], open_[0])
            try:
                yield Delta(kind="text", text=name)
            finally:
                open_[0] -= 1

        return write

    async def work() -> Busy:
        replies = Replies(Threads(4), wait_s=0.2)

        async def ask(name: str) -> None:
            async with aclosing(replies(reply(name))) as deltas:
                async for delta in deltas:
                    order.append(delta.text)

        async with anyio.create_task_group() as group:
            for name in "abc":
                group.start_soon(ask, name)
        async with aclosing(replies(reply("long"))) as first:
            await anext(first)
            with pytest.raises(Busy) as busy:
                await anext(replies(reply("late")))
        await ask("after")
        return busy.value

    busy = anyio.run(work)
    assert (busy.code, most[0], sorted(order)) == ("server.busy", 1, ["a", "after", "b", "c"])


def test_slow_tools_do_not_delay_others(shared: Lilbee) -> None:
    """Reads run beside each other, off the event loop (R272)."""

    async def work(client: Client) -> list[bool]:
        results: list[bool] = []

        async def one(number: int) -> None:
            done = await client.call_tool("search", {"query": f"honey {number}"})
            results.append(bool(done.is_error))

        async with anyio.create_task_group() as group:
            for number in range(40):
                group.start_soon(one, number)
        return results

    assert talk(shared, work) == [False] * 40
