"""Names of pages (R218)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilbee_core.wiki._slugs import slug_of, slugs_of


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Honey Bees", "honey-bees"),
        ("Café, owner's", "cafe-owner-s"),
        ("os.path.join", "os-path-join"),
        ("東京大学", "東京大学"),
        ("snake_case", "snake-case"),
    ],
)
def test_slugs(title: str, slug: str) -> None:
    assert slug_of(title) == slug


@pytest.mark.parametrize("title", ["", "!!!", "CON", "index", "Log"])
def test_what_makes_no_name_of_a_file_gets_a_mark(title: str) -> None:
    assert slug_of(title).rpartition("-")[0] in {"page", "con", "index", "log"}


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=200), max_size=8))
def test_no_two_pages_have_one_name(titles: dict[str, str]) -> None:
    slugs = slugs_of(titles)

    assert set(slugs) == set(titles)
    assert len(set(slugs.values())) == len(titles)
    assert all(slug and "/" not in slug and not slug.startswith(".") for slug in slugs.values())
