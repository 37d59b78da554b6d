"""Give the readers mutated files for a bounded time: no bug, no crash of this process, no hang. `nox -s fuzz` runs it.

Usage: python tests/tools/fuzz_extraction.py [--seconds 120] [--seed N] [--files FOLDER]

The files are those of the example library, of FOLDER, and small ones of each format; the mutations are made by
hypothesis. A failure prints the seed and leaves the file in the current folder.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from lilbee_core.errors import LilbeeError
from lilbee_core.extract import ExtractorRegistry, ExtractPool, builtin_extractors
from lilbee_core.extract._compound import compound_file
from lilbee_core.types import Document, Source
from tests.core.extract import test_fuzz as small
from tests.core.extract._files import pdf, placed_pdf, xlsb, xlsx
from tests.core.extract.test_members import attachment, forwarded, outlook
from tests.core.extract.test_old_formats import BODY, BOOK, word95
from tests.core.extract.test_sevenzip import FILES, LOCKED_NAMES, PLAIN, deflated, sevenzip

ROOT = Path(__file__).resolve().parents[2]
LARGEST = 200_000
BATCH = 12
FILE_LIMIT_S = 20.0
GROWTH = 500 * 1024 * 1024

Batch = list[tuple[tuple[str, bytes], list[tuple[float, int, bytes]]]]
PIECES = st.one_of(
    st.binary(max_size=8),
    st.sampled_from(
        [b"<", b"</", b'"', b"-1", b"99999999999", b"\xff" * 4, bytes(4), b"{", b"[", b"&#0;", b"PK\x03\x04"]
    ),
)
EDITS = st.lists(st.tuples(st.floats(0, 1), st.integers(0, 64), PIECES), min_size=1, max_size=8)


def samples(folder: Path | None) -> list[tuple[str, bytes]]:
    """Return the whole files with their names."""
    found = dict(small.TEXTS) | {name: pack(part) for name, (pack, part) in small.PACKAGES.items()}
    found["small.pdf"] = pdf([(20, "Head"), (11, "words on a page")], [(11, "and more")])
    found["scan.pdf"] = placed_pdf([], picture=(10, 10, bytes(100)))
    found["small.7z"], found["locked.7z"], found["deflate.7z"] = (
        PLAIN,
        LOCKED_NAMES,
        sevenzip(FILES, b"\x04\x01\x08", b"", deflated),
    )
    found["small.fb2"] = BOOK.format(encoding="windows-1251").encode("windows-1251")
    found["old.doc"], found["hasty.doc"] = word95(BODY), word95(BODY, pieces=3)
    inner = outlook("Inner", "forwarded", attachment("a.txt", b"words"), alone=False)
    found["small.msg"] = compound_file(outlook("Outer", "text", forwarded(inner)))
    found["small.xlsb"] = xlsb({"Fees": [["Name", "Price"], ["Pier", 5.0]]})
    found["small.xlsx"] = xlsx({"S": [["Name", "Fee"], ["Pier", "5"]], "T": [["x"]]})
    for root in (ROOT / "examples" / "library", folder):
        for path in sorted(root.rglob("*")) if root is not None else ():
            if path.is_file() and 0 < path.stat().st_size <= LARGEST and ".lilbee" not in path.parts:
                found[path.name] = path.read_bytes()
    return sorted(found.items())


def mutated(data: bytes, edits: Sequence[tuple[float, int, bytes]]) -> bytes:
    """Return a file with pieces of it replaced; an edit of nothing cuts it off."""
    for place, length, piece in edits:
        at = int(place * len(data))
        data = data[:at] if not length and not piece else data[:at] + piece + data[at + length :]
    return data


@dataclass
class Session:
    """What was tried, and what came of it."""

    pool: ExtractPool
    outcomes: Counter[str] = field(default_factory=Counter[str])
    slowest: float = 0.0
    bugs: list[str] = field(default_factory=list[str])

    def run(self, files: Sequence[tuple[str, bytes]]) -> None:
        """Read a batch and look at each result."""
        sources = [
            Source(collection="c", path=f"{number}-{name}", media_type="", data=data, size=len(data))
            for number, (name, data) in enumerate(files)
        ]
        started = time.monotonic()
        results = dict(self._results(sources))
        self.slowest = max(self.slowest, time.monotonic() - started)
        for source in sources:
            self._judge(source, results.get(source.path))

    def _results(self, sources: Sequence[Source]) -> Iterator[tuple[str, Document | LilbeeError]]:
        for source, result in self.pool.extract(sources):
            yield source.path, result

    def _judge(self, source: Source, result: Document | LilbeeError | None) -> None:
        problem = _problem(result)
        self.outcomes[result.code if isinstance(result, LilbeeError) else "read"] += 1
        if problem is None:
            return
        data = source.data or b""
        kept = Path(f"fuzz-{hashlib.sha256(data).hexdigest()[:12]}-{source.path.split('-', 1)[1]}")
        kept.write_bytes(data)
        self.bugs.append(f"{kept}: {problem}")


def _problem(result: Document | LilbeeError | None) -> str | None:
    if result is None:
        return "nothing came back"
    try:
        small.check(result)
    except AssertionError as error:
        return f"{type(result).__name__}: {error}"
    return None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a session; exit status 1 if a file showed a bug."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--files", type=Path, default=None)
    asked = parser.parse_args(arguments)
    number = asked.seed if asked.seed is not None else random.SystemRandom().randrange(2**31)
    whole = samples(asked.files)
    deadline, before = time.monotonic() + asked.seconds, psutil.Process().memory_info().rss
    batches = st.lists(st.tuples(st.sampled_from(whole), EDITS), min_size=BATCH, max_size=BATCH)
    with ExtractPool(ExtractorRegistry(builtin_extractors()), workers=2, timeout_s=FILE_LIMIT_S) as pool:
        session = Session(pool)
        while time.monotonic() < deadline:
            _some(session, batches, number, deadline)
            number += 1
    growth = psutil.Process().memory_info().rss - before
    tried = sum(session.outcomes.values())
    sys.stdout.write(
        f"{tried} files, slowest batch of {BATCH} {session.slowest:.1f} s, parent grew {growth / 1e6:.0f} MB, "
        f"last seed {number - 1}\n{dict(session.outcomes.most_common())}\n"
    )
    for bug in session.bugs:
        sys.stdout.write(f"BUG {bug}\n")
    return 1 if session.bugs or growth > GROWTH or not tried else 0


def _some(session: Session, batches: st.SearchStrategy[Batch], number: int, deadline: float) -> None:
    """Run twenty batches that hypothesis makes of one seed."""

    @seed(number)
    @settings(
        max_examples=20,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(batches)
    def attempt(batch: Batch) -> None:
        if time.monotonic() < deadline:
            session.run([(name, mutated(data, edits)) for (name, data), edits in batch])

    attempt()


if __name__ == "__main__":
    sys.exit(main())
