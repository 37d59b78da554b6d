"""Recent documents gain on old ones."""

import pytest
from acme_lilbee.freshness import Freshness, day_of

from lilbee_core.testing import StageContext, a_hit, a_state
from lilbee_core.testing.contracts import StageContract


class TestFreshness(StageContract):
    """The public checks for every search stage."""

    def make(self):
        return Freshness(half_life_days=30, weight=0.9)


def order(*hits, **options):
    # The clock of a StageContext stands at 14 March 2026.
    return [hit.text for hit in Freshness(**options).run(a_state(*hits), StageContext()).hits]


OLD = a_hit("old", score=1.0, date="2020-01-01")
NEW = a_hit("new", score=0.9, date="2026-03-13")


def test_a_recent_hit_overtakes_an_old_one():
    assert order(OLD, NEW) == ["new", "old"]


def test_without_weight_nothing_changes():
    assert order(OLD, NEW, weight=0.0) == ["old", "new"]


def test_half_of_the_bonus_is_lost_after_the_half_life():
    hit = a_hit(score=1.0, date="2026-03-04")
    (result,) = Freshness(half_life_days=10, weight=1.0).run(a_state(hit), StageContext()).hits
    assert result.score == pytest.approx(0.5)
    assert dict(result.scores)["acme-freshness"] == pytest.approx(0.5)


@pytest.mark.parametrize("date", [None, "", "someday", "2027-01-01"])
def test_a_hit_without_a_usable_date_keeps_its_score(date):
    (result,) = Freshness(weight=1.0).run(a_state(a_hit(score=0.7, date=date)), StageContext()).hits
    assert result.score == 0.7


def test_days():
    assert str(day_of("2026-03-14T23:59:00+00:00")) == "2026-03-14"
    assert day_of("14 March") is None
