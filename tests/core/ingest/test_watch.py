"""Watching folders: when a sync follows, of what, and what happens when something goes wrong (R318)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lilbee_core.errors import Cancelled, ProviderUnavailable, SettingsError, SourceUnavailable
from lilbee_core.events import ChangesSeen, Event, Warned, WatchFailed, WatchStarted
from lilbee_core.ingest import Root, WalkOptions, Watcher, WatchOptions, WatchReport
from lilbee_core.testing import ManualClock
from lilbee_core.types import SyncReport

Script = Callable[["World", float], Collection[str]]


@dataclass
class World:
    """Folders, a clock that waiting moves, what is told of them, and every sync."""

    folder: Path
    options: WatchOptions = WatchOptions()
    clock: ManualClock = field(default_factory=ManualClock)
    events: list[Event] = field(default_factory=list)
    syncs: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    answers: list[SyncReport | Exception] = field(default_factory=list)
    listened: list[tuple[tuple[Path, ...], bool]] = field(default_factory=list)
    deaf: set[Path] = field(default_factory=set)
    remote: set[Path] = field(default_factory=set)
    roots: list[Root] = field(default_factory=list)
    refused: SettingsError | None = None
    script: dict[float, Callable[[], Collection[str]]] = field(default_factory=dict)
    open: int = 0

    def root(self, name: str, **globs: tuple[str, ...]) -> Root:
        (self.folder / name).mkdir(parents=True, exist_ok=True)
        root = Root(collection=name, folder=self.folder / name, own=(self.folder / name / ".lilbee",), **globs)
        self.roots.append(root)
        return root

    def at(self, when: float, *paths: str, do: Callable[[], object] = lambda: None) -> None:
        """Have something done and told when the clock gets there."""

        def happen() -> Collection[str]:
            do()
            return [str(self.folder / path) for path in paths]

        self.script[when] = happen

    def run(self, until: float) -> WatchReport:
        watcher = Watcher(
            self._roots,
            WalkOptions,
            self._sync,
            options=lambda: self.options,
            events=self.events.append,
            clock=self.clock,
            listen=self._listen,
            remote=lambda folder: folder in self.remote,
        )
        return watcher.run(_Until(self.clock, until))

    def told(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    def _roots(self) -> Sequence[Root]:
        if self.refused is not None:
            raise self.refused
        return list(self.roots)

    def _sync(self, collections: tuple[str, ...]) -> SyncReport:
        self.syncs.append((self.clock.monotonic(), collections))
        answer = self.answers.pop(0) if self.answers else SyncReport()
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _listen(self, folders: Sequence[Path], *, recursive: bool) -> _Told:
        if self.deaf.intersection(folders):
            raise OSError("the limit of watches is reached")
        self.listened.append((tuple(folders), recursive))
        self.open += 1
        return _Told(self)


@dataclass
class _Until:
    clock: ManualClock
    end: float

    def check(self) -> None:
        if self.clock.monotonic() >= self.end:
            raise Cancelled("the test is over")


@dataclass
class _Told:
    """A source that tells what the script says, once the clock is there."""

    world: World

    def wait(self, timeout_s: float) -> Collection[str]:
        self.world.clock.advance(timeout_s)
        now = self.world.clock.monotonic()
        return {path for when in [one for one in self.world.script if one <= now] for path in self._take(when)}

    def _take(self, when: float) -> Collection[str]:
        return self.world.script.pop(when)()

    def close(self) -> None:
        self.world.open -= 1


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_everything_is_synced_at_once_and_then_only_what_changes(world: World) -> None:
    world.root("notes")
    world.root("code")
    world.at(10.0, "code/new.py")
    report = world.run(20.0)
    assert [names for _, names in world.syncs] == [("code", "notes"), ("code",)]
    assert world.syncs[0][0] <= 0.5
    assert 11.0 <= world.syncs[1][0] <= 11.5, "a second of quiet, then at once"
    assert report.to_dict() == {"syncs": 2, "failures": 0, "cancelled": True}
    assert world.told(WatchStarted) == [WatchStarted(collections=("code", "notes"))]
    assert world.told(ChangesSeen)[1:] == [ChangesSeen(collections=("code",))]
    assert world.open == 0, "nothing is listened to any more"


def test_a_burst_is_one_sync_and_changes_without_end_are_synced_all_the_same(world: World) -> None:
    world.root("notes")
    for number in range(20):  # 10,000 changes in ten seconds, never a second of quiet
        world.at(10.0 + number / 2, *(f"notes/{number}-{one}.txt" for one in range(500)))
    world.run(40.0)
    assert len(world.syncs) == 2
    assert world.syncs[1][0] == pytest.approx(20.5, abs=0.6)
    world.syncs.clear()
    for number in range(240):
        world.at(50.0 + number / 2, "notes/log.txt")
    world.run(180.0)
    starts = [when for when, _ in world.syncs[1:]]
    assert 3 <= len(starts) <= 6, starts
    assert starts[0] <= 82.0


def test_what_is_left_out_starts_no_sync(world: World) -> None:
    world.root("notes")
    world.at(5.0, "notes/.lilbee/index/x", "notes/node_modules/a/b.js", "notes/.git/index.lock", "notes/a.swp", "notes")
    world.at(9.0, "elsewhere/a.txt")
    world.run(30.0)
    assert len(world.syncs) == 1


def test_an_error_is_told_and_tried_again_later_and_later_while_new_changes_are_not_held_up(world: World) -> None:
    world.root("notes")
    down = ProviderUnavailable("nobody answers", hint="Start it.")
    world.answers = [down, down, ValueError("a bug"), SyncReport()]
    world.run(40.0)
    assert [round(when) for when, _ in world.syncs] == [0, 2, 6, 14], "after 2, 4 and 8 seconds"
    failed = world.told(WatchFailed)
    assert [(one.code, one.retry_s) for one in failed if isinstance(one, WatchFailed)] == [
        (down.code, 2.0),
        (down.code, 4.0),
        ("internal", 8.0),
    ]
    world.syncs.clear()
    world.answers = [SyncReport(), SyncReport(owed=3), SyncReport(owed=3), SyncReport(owed=3), SyncReport()]
    world.at(50.0, "notes/a.txt")
    world.at(60.0, "notes/b.txt")
    world.run(90.0)
    times = [round(when) for when, _ in world.syncs]
    assert any(60 < when <= 62 for when in times), "a change is not held up by what is owed"
    assert len(times) == 6, times


def test_a_folder_that_goes_and_comes_back_is_watched_again(world: World) -> None:
    root = world.root("notes")
    away = world.folder / "away"
    world.answers = [SyncReport(), SourceUnavailable("it is not there", hint="Bring it back.")]
    world.at(10.0, do=lambda: root.folder.rename(away))
    world.run(20.0)
    assert [names for _, names in world.syncs] == [("notes",), ("notes",)]
    assert world.told(WatchFailed) == [
        WatchFailed(code="source.unavailable", reason="it is not there", hint="Bring it back.")
    ]
    world.syncs.clear()
    world.at(30.0, do=lambda: away.rename(root.folder))

    def replace_it() -> None:
        root.folder.rename(away)
        root.folder.mkdir()

    world.at(40.0, do=replace_it)  # another folder of the same name: another disk in its place
    world.run(25.0)
    world.root("other")  # something is listened to, so that the script goes on
    world.run(50.0)
    assert [names for _, names in world.syncs if "notes" in names][-2:] == [("notes", "other"), ("notes", "other")]
    assert world.listened[-1][0] == (root.folder, world.folder / "other")


def test_collections_come_and_go_while_it_watches(world: World) -> None:
    world.root("notes")
    world.at(5.0, do=lambda: world.root("more"))
    world.at(10.0, "more/a.txt")
    world.at(15.0, do=lambda: world.roots.pop(0))
    world.at(20.0, "notes/a.txt")
    world.run(30.0)
    assert [names for _, names in world.syncs] == [("notes",), ("more", "notes"), ("more",), ("more",)]
    assert world.told(WatchStarted)[-1] == WatchStarted(collections=("more",))


def test_settings_that_cannot_be_read_are_told_once_and_those_of_before_hold(world: World) -> None:
    world.root("notes")

    def refuse() -> None:
        world.refused = SettingsError("config.toml is no TOML", hint="Mend it.")

    def mend() -> None:
        world.refused = None

    world.at(5.0, do=refuse)
    world.at(10.0, "notes/a.txt")
    world.at(15.0, do=mend)
    world.run(20.0)
    assert len(world.syncs) == 2
    assert [one.code for one in world.told(WatchFailed) if isinstance(one, WatchFailed)] == ["settings.invalid"]


def test_where_the_system_cannot_tell_one_looks_now_and_then(world: World) -> None:
    far, near, many = world.root("far"), world.root("near"), world.root("many")
    world.remote.add(far.folder)
    world.deaf.add(many.folder)
    world.at(20.0, do=lambda: (far.folder / "a.txt").write_text("a"))
    world.at(40.0, do=lambda: (many.folder / "b.txt").write_text("b"))
    world.run(60.0)
    assert world.told(WatchStarted) == [WatchStarted(collections=("far", "many", "near"), polled=("far", "many"))]
    assert [names for _, names in world.syncs] == [("far", "many", "near"), ("far",), ("many",)]
    assert world.syncs[1][0] <= 32.0
    assert world.listened == [((near.folder,), True)]
    told = world.told(WatchFailed)
    assert isinstance(told[0], WatchFailed)
    assert (told[0].code, str(many.folder) in told[0].reason) == ("watch.deaf", True)
    world.deaf.clear()
    world.run(1000.0)
    assert world.told(WatchStarted)[-1] == WatchStarted(collections=("far", "many", "near"), polled=("far",))


@pytest.mark.parametrize(("polling", "polled"), [("always", ("far", "near")), ("never", ()), ("auto", ("far",))])
def test_polling_is_a_matter_of_settings(world: World, polling: str, polled: tuple[str, ...]) -> None:
    world.options = WatchOptions(polling=polling)  # type: ignore[arg-type]
    world.remote.add(world.root("far").folder)
    world.root("near")
    world.run(3.0)
    assert world.told(WatchStarted) == [WatchStarted(collections=("far", "near"), polled=polled)]


def test_a_source_that_fails_is_replaced_and_everything_is_looked_at(world: World) -> None:
    root = world.root("notes")

    def fail() -> None:
        raise OSError("a name is no text")

    world.at(10.0, do=fail)
    world.at(13.0, "notes/a.txt")
    world.at(20.0, do=fail)
    world.run(25.0)
    assert [round(when) for when, _ in world.syncs] == [0, 11, 14, 21]
    assert world.listened == [((root.folder,), True)] * 2, "not a third time"
    assert world.told(WatchStarted)[-1] == WatchStarted(collections=("notes",), polled=("notes",))


def test_nothing_is_listened_to_beside_what_the_globs_can_want(world: World) -> None:
    home = world.root("home", include=("/my\\ todo.txt", "/memory/**/*.md"))
    world.at(5.0, "home/memory", do=(home.folder / "memory").mkdir)
    world.at(10.0, "home/memory/deep/a.md")
    for name in ("memory/b.txt", "other.txt"):
        world.at(15.0 + len(name), f"home/{name}", do=lambda name=name: (home.folder / name).write_text("b"))
    world.run(40.0)
    assert world.listened[0] == ((home.folder,), False)
    assert world.listened[1:] == [((home.folder / "memory",), True), ((home.folder,), False)]
    assert len(world.syncs) == 3
    inner = Root(collection="inner", folder=home.folder / "memory")
    world.roots.append(inner)
    world.listened.clear()
    world.run(50.0)
    assert world.listened[0] == ((home.folder / "memory",), True), "once, for both"


def test_everything_is_looked_at_every_quarter_of_an_hour(world: World) -> None:
    world.root("notes")
    world.answers = [SyncReport(warnings=("odd",)), SyncReport(warnings=("odd", "odder"))]
    world.run(2000.0)
    assert [round(when, -2) for when, _ in world.syncs] == [0, 900, 1800]
    assert world.told(Warned) == [Warned(message="odd"), Warned(message="odder")]
