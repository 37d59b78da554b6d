"""What plugins return is checked field by field."""

from __future__ import annotations

from typing import Any

import pytest

from lilbee_core.plugins import ChunkerSpec, FetcherSpec, OcrSpec, PluginHost, PluginReport, hookimpl
from tests.core.plugins._samples import Named, extractor, provider, refuse, stage


def chunker(**more: object) -> ChunkerSpec:
    fields: dict[str, Any] = {"name": "acme-cut", "media_types": ("text/plain",), "build": refuse, **more}
    return ChunkerSpec(**fields)


def report_of(hook: str, spec: object) -> PluginReport:
    """Register a plugin whose `hook` offers `spec`."""
    offer = hookimpl(specname=hook)(lambda: [spec])
    plugin = type("Plugin", (Named,), {"offer": staticmethod(offer)})()
    (report,) = PluginHost([plugin], entry_points=list).reports
    return report


BAD = [
    ("lilbee_extractors", extractor(7), "7 cannot be a name"),
    ("lilbee_extractors", extractor("acme ics"), "'acme ics' cannot be a name"),
    ("lilbee_extractors", extractor(build=None), "build is not callable"),
    ("lilbee_extractors", extractor(options={"a": 1}), "options is not a pydantic model"),
    ("lilbee_extractors", extractor(options=dict), "options is not a pydantic model"),
    ("lilbee_extractors", extractor(media_types="text/calendar"), "media_types is not a tuple"),
    ("lilbee_extractors", extractor(media_types=("calendar",)), "media_types is not a tuple"),
    ("lilbee_extractors", extractor(media_types=(1,)), "media_types is not a tuple"),
    ("lilbee_extractors", extractor(suffixes=("ics",)), "suffixes is not a tuple"),
    ("lilbee_extractors", extractor(suffixes=[".ics"]), "suffixes is not a tuple"),
    ("lilbee_extractors", extractor(media_types=(), suffixes=()), "it reads no media type"),
    ("lilbee_extractors", extractor(priority="high"), "priority is not a whole number"),
    ("lilbee_chunkers", chunker(media_types=()), "media_types is not a tuple"),
    ("lilbee_chunkers", chunker(priority=1.5), "priority is not a whole number"),
    ("lilbee_providers", provider(prefix=""), "'' cannot start model references"),
    ("lilbee_providers", provider(prefix="Acme"), "'Acme' cannot start model references"),
    ("lilbee_providers", provider(prefix="a/b"), "'a/b' cannot start model references"),
    ("lilbee_providers", provider(prefix="gguf"), "'gguf' cannot start model references"),
    ("lilbee_providers", provider(prefix=None), "None cannot start model references"),  # type: ignore[arg-type]
    ("lilbee_providers", provider(roles={"embed"}), "roles is not a frozenset of roles"),
    ("lilbee_providers", provider(roles=frozenset()), "roles is not a frozenset of roles"),
    ("lilbee_providers", provider(roles=frozenset({"sing"})), "roles is not a frozenset of roles"),
    ("lilbee_search_stages", stage(place="before limit"), "place is none of before, after and replaces"),
    ("lilbee_search_stages", stage(place=None), "place is none of before, after and replaces"),
    ("lilbee_fetchers", FetcherSpec(name="acme-web", build=refuse, priority="x"), "priority is not"),
    ("lilbee_ocr_engines", OcrSpec(name="acme-ocr", build=refuse, priority=None), "priority is not"),
]


@pytest.mark.parametrize(("hook", "spec", "message"), BAD)
def test_bad_specs_are_left_out_with_a_hint(hook: str, spec: object, message: str) -> None:
    report = report_of(hook, spec)
    (failure,) = report.failures
    assert message in failure.message
    assert failure.hint
    assert report.parts == ()


@pytest.mark.parametrize("relation", ["around", ""])
def test_a_place_needs_a_known_relation(relation: str) -> None:
    from lilbee_core.plugins import StagePlace

    (failure,) = report_of("lilbee_search_stages", stage(place=StagePlace(relation=relation, stage="fuse"))).failures
    assert "place is none of" in failure.message


def test_a_place_names_a_stage() -> None:
    from lilbee_core.plugins import before

    (failure,) = report_of("lilbee_search_stages", stage(place=before(""))).failures
    assert failure.message == "place names no stage, but ''"


@pytest.mark.parametrize(
    ("hook", "spec"),
    [
        ("lilbee_extractors", extractor(media_types=(), suffixes=(".ics",), priority=-3)),
        ("lilbee_extractors", extractor(media_types=("text/*",))),
        ("lilbee_chunkers", chunker()),
        ("lilbee_providers", provider(roles=frozenset({"chat", "embed", "rerank", "vision"}))),
    ],
)
def test_good_specs_are_offered(hook: str, spec: Any) -> None:
    report = report_of(hook, spec)
    assert report.failures == ()
    assert report.parts == (spec.name,)


@pytest.mark.parametrize("name", ["acme-", "acme", "acmeics", "-acme", "Acme-ics"])
def test_names_need_the_prefix_and_something_behind_it(name: str) -> None:
    assert report_of("lilbee_extractors", extractor(name)).failures
