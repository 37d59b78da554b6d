"""The sample library is what its maker makes, and its files tell one story."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from decimal import Decimal

import pytest

from tests.tools._blocks import read_table, read_text
from tests.tools.make_library import FILES, LIBRARY

MAX_BYTES = 1_000_000


@pytest.mark.parametrize("name", FILES)
def test_committed_file_is_what_the_maker_makes(name: str) -> None:
    assert (LIBRARY / name).read_bytes() == FILES[name](), "run python -m tests.tools.make_library"


def test_formats_are_mixed_and_small() -> None:
    files = [path for path in LIBRARY.rglob("*") if path.is_file() and ".lilbee" not in path.parts]
    suffixes = {path.suffix for path in files}
    assert suffixes >= {".md", ".log", ".py", ".js", ".pdf", ".docx", ".html", ".csv", ".epub", ".eml", ".json"}
    assert suffixes >= {".xlsx", ".pptx"}
    assert sum(path.stat().st_size for path in files) < MAX_BYTES


def test_harvest_adds_up_to_what_the_minutes_say() -> None:
    with (LIBRARY / "records/harvest-2025.csv").open(encoding="utf-8", newline="") as file:
        total = sum(Decimal(row["kilograms"]) for row in csv.DictReader(file))
    assert f"The harvest was {total} kilograms" in " ".join(read_text("minutes.md").split())


def test_accounts_add_up_to_what_the_minutes_say() -> None:
    (_, _, brought, _), *rows = read_table("accounts.csv")[1:]
    came, went = (sum(Decimal(row[column] or 0) for row in rows) for column in (2, 3))
    minutes = " ".join(read_text("minutes.md").split())
    assert f"We took £{came:,} and spent £{went:,}." in minutes
    assert f"With the £{Decimal(brought):,} from last year there are £{Decimal(brought) + came - went:,}" in minutes


def test_program_finds_the_swarm_in_the_log() -> None:
    command = [sys.executable, str(LIBRARY / "code/hive_scale.py"), str(LIBRARY / "logs/hive7-scale.log")]
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert said == "79 readings, swarm gone by 11:50 at 39.5 kg\n"


def test_records_are_valid_json_with_nine_stands() -> None:
    hives = json.loads((LIBRARY / "records/hives.json").read_text("utf-8"))["hives"]
    assert [hive["stand"] for hive in hives] == list(range(1, 10))
