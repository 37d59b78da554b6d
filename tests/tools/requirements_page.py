"""Keep docs/requirements.md true: fill in which tests show each requirement, and count the states.

python tests/tools/requirements_page.py            rewrite the page
python tests/tools/requirements_page.py --check    fail when it is out of date or contradicts itself

A state may be followed by a colon and a note. That of a line which is `changed` links to the decision that changed it.
"""

from __future__ import annotations

import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "requirements.md"
LAST_ID = 394
STATES = ("open", "partly", "done", "changed", "out")
NEED_TESTS = {"partly", "done", "changed"}
ROW = re.compile(r"^\| (R\d{3}) \| (.*?) \| (.*) \| (\w+)(?:: ([^|]*))? \| (.*?) ?\|$")
DECISIONS = ROOT / "docs" / "explanation" / "decisions.md"
DECISION = re.compile(r"\]\(explanation/decisions\.md#([^)]+)\)")
MENTION = re.compile(r"\bR(\d{3})(?:\s*[-–]\s*R?(\d{3}))?\b")
COUNTS = re.compile(r"(<!-- counts -->\n).*?(<!-- end of counts -->)", re.DOTALL)
Mentions = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One requirement."""

    id: str
    part: str
    text: str
    state: str
    note: str
    tests: str

    @classmethod
    def parse(cls, line: str) -> Row | None:
        found = ROW.match(line)
        if found is None:
            return None
        id_, part, text, state, note, tests = found.groups()
        return cls(id=id_, part=part, text=text, state=state, note=note or "", tests=tests)

    def __str__(self) -> str:
        state = f"{self.state}: {self.note}" if self.note else self.state
        return f"| {self.id} | {self.part} | {self.text} | {state} | {self.tests} |"


def ids_in(text: str) -> Iterator[str]:
    """Yield the requirement ids named in `text`, ranges spelled out."""
    for first, last in MENTION.findall(text):
        for number in range(int(first), int(last or first) + 1):
            yield f"R{number:03}"


def mentions(tests: Path) -> Mentions:
    """Return the test files that name each id, by path below the tests folder."""
    named: dict[str, set[str]] = defaultdict(set)
    for path in sorted(tests.rglob("test_*.py")):
        for id_ in ids_in(path.read_text("utf-8")):
            named[id_].add(path.relative_to(tests).as_posix())
    return {id_: tuple(sorted(paths)) for id_, paths in named.items()}


def rewrite(page: str, named: Mentions) -> str:
    """Return the page with its tests and counts brought up to date."""
    lines: list[str] = []
    counts: Counter[str] = Counter()
    for line in page.splitlines():
        row = Row.parse(line)
        if row is None:
            lines.append(line)
            continue
        counts[row.state] += 1
        tests = ", ".join(f"`{path}`" for path in named.get(row.id, ()))
        lines.append(str(replace(row, tests=tests)))
    summary = ", ".join(f"{counts[state]} {state}" for state in STATES)
    return COUNTS.sub(rf"\g<1>{sum(counts.values())} lines: {summary}.\n\g<2>", "\n".join(lines) + "\n")


def anchors(page: str) -> frozenset[str]:
    """Return where links into a page may lead: its headings, as they are named in addresses."""
    titles = re.findall(r"^#+ (.*)$", page, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles)


def problems(page: str, named: Mentions, decided: frozenset[str] = frozenset()) -> list[str]:
    """Return what is wrong with the page, apart from being out of date. `decided` are the anchors of the decisions."""
    rows = [row for row in map(Row.parse, page.splitlines()) if row]
    ids = [row.id for row in rows]
    expected = [f"R{number:03}" for number in range(1, LAST_ID + 1)]
    found = [f"{id_} is missing" for id_ in expected if id_ not in ids]
    found += [f"{id_} stands {times} times" for id_, times in Counter(ids).items() if times > 1]
    found += [f"{row.id} has the unknown state {row.state!r}" for row in rows if row.state not in STATES]
    found += [f"{row.id} is {row.state}, but no test names it" for row in rows if _untested(row, named)]
    found += [f"{row.id} is {row.state}, but names no decision" for row in rows if _undecided(row, decided)]
    found += [f"{paths[0]} names {id_}, which is no requirement" for id_, paths in named.items() if id_ not in expected]
    return found


def _untested(row: Row, named: Mentions) -> bool:
    return row.state in NEED_TESTS and row.id not in named


def _undecided(row: Row, decided: frozenset[str]) -> bool:
    links = DECISION.findall(row.note)
    return not decided.issuperset(links) or (row.state == "changed" and not links)


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        return 2
    page = PAGE.read_text("utf-8")
    named = mentions(ROOT / "tests")
    current = rewrite(page, named)
    wrong = problems(current, named, anchors(DECISIONS.read_text("utf-8")))
    if arguments and current != page:
        wrong.append("docs/requirements.md is out of date: run python tests/tools/requirements_page.py")
    if not arguments:
        PAGE.write_text(current, "utf-8")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
