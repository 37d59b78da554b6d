"""Ten thousand random conversations: nothing is lost in any, whatever is done to it."""

from __future__ import annotations

from tests.bench._figures import Figure, Report, exactly
from tests.properties.test_conversations import run

CONVERSATIONS = 10_000


def test_ten_thousand_random_conversations(report: Report) -> None:
    summaries = run(1_000_000, CONVERSATIONS)
    assert summaries > CONVERSATIONS // 4
    report.add(
        Figure(
            id="C",
            what=f"random conversations that keep all they were told ({summaries} summaries)",
            value=CONVERSATIONS,
            unit="",
            goal=exactly(CONVERSATIONS),
        )
    )
