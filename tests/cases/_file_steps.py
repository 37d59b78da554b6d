"""Steps that change the folder, as a person would."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from tests.cases._case import Step, numbered
from tests.cases._world import World


def _put(world: World, step: Step) -> None:
    target = _made(world.place(step["as"]))
    shutil.copyfile(world.inputs / step["file"], target)


def _write(world: World, step: Step) -> None:
    text = step["text"] if "text" in step else "".join(part * times for part, times in step["parts"])
    target = _made(world.place(step["as"]))
    target.write_bytes(text.encode("utf-8"))
    if "mtime" in step:
        moment = datetime.fromisoformat(step["mtime"]).timestamp()
        os.utime(target, (moment, moment))


def _write_many(world: World, step: Step) -> None:
    for number in range(step["n"]):
        _write(world, numbered(step, number))


def _move(world: World, step: Step) -> None:
    shutil.move(world.place(step["from"]), _made(world.place(step["to"])))


def _delete(world: World, step: Step) -> None:
    place = world.place(step["path"])
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink()


def _touch(world: World, step: Step) -> None:
    place = world.place(step["path"])
    moment = datetime.fromisoformat(step["mtime"]).timestamp() if "mtime" in step else time.time() + 10
    os.utime(place, (moment, moment))


def _chmod(world: World, step: Step) -> None:
    mode = step["mode"]
    os.chmod(world.place(step["path"]), int(mode, 8) if isinstance(mode, str) else mode)


def _link(world: World, step: Step) -> None:
    os.symlink(step["to"], _made(world.place(step["at"])))


def _prepend(world: World, step: Step) -> None:
    place = world.place(step["path"])
    place.write_bytes(step["text"].encode("utf-8") + place.read_bytes())


def _take_root_away(world: World, step: Step) -> None:
    world.root.rename(world.base / "library.away")


def _bring_root_back(world: World, step: Step) -> None:
    (world.base / "library.away").rename(world.root)


def _empty_root(world: World, step: Step) -> None:
    _move_content(world.root, world.base / "emptied")


def _fill_root_again(world: World, step: Step) -> None:
    _move_content(world.base / "emptied", world.root)


def _move_content(source: Path, target: Path) -> None:
    target.mkdir(exist_ok=True)
    for entry in sorted(source.iterdir()):
        entry.rename(target / entry.name)


def _made(place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


FILE_STEPS: Mapping[str, Callable[[World, Step], None]] = {
    "put": _put,
    "write": _write,
    "write_many": _write_many,
    "move": _move,
    "delete": _delete,
    "touch": _touch,
    "chmod": _chmod,
    "link": _link,
    "prepend": _prepend,
    "take_root_away": _take_root_away,
    "bring_root_back": _bring_root_back,
    "empty_root": _empty_root,
    "fill_root_again": _fill_root_again,
}
"""What to do for each kind of step."""
