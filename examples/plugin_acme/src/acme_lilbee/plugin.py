"""What the plugin offers. Hooks return specs; nothing is built, read or connected here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from lilbee_core.plugins import (
    ExtractorSpec,
    ExtractServices,
    OcrSpec,
    Options,
    PluginSpec,
    StageServices,
    StageSpec,
    before,
    hookimpl,
)

if TYPE_CHECKING:
    from lilbee_core.protocols import Extractor, OcrEngine, SearchStage


class FreshnessOptions(BaseModel):
    """What `[plugins.acme]` may hold."""

    half_life_days: float = Field(default=365.0, gt=0, description="Age at which a document has lost half its bonus.")
    weight: float = Field(default=0.3, ge=0, le=1, description="How much of a score is up to the age; 0 is nothing.")


def build_calendar(options: Options, services: ExtractServices) -> Extractor:
    from acme_lilbee.events import CalendarExtractor

    return CalendarExtractor()


def build_captions(options: Options) -> OcrEngine:
    from acme_lilbee.captions import CaptionReader

    return CaptionReader()


def build_freshness(options: Options, services: StageServices) -> SearchStage:
    from acme_lilbee.freshness import Freshness

    return Freshness(half_life_days=options["half_life_days"], weight=options["weight"])


@hookimpl
def lilbee_plugin() -> PluginSpec:
    return PluginSpec(name="acme", version="1.0.0", summary="Calendars, and a preference for recent documents")


@hookimpl
def lilbee_extractors() -> list[ExtractorSpec]:
    return [
        ExtractorSpec(
            name="acme-calendar",
            media_types=("text/calendar",),
            suffixes=(".ics", ".ical"),
            # Above the built-in reader, which takes a calendar for plain text.
            priority=10,
            build=build_calendar,
            summary="Calendar files, one section per event",
        )
    ]


@hookimpl
def lilbee_ocr_engines() -> list[OcrSpec]:
    return [OcrSpec(name="acme-captions", build=build_captions, summary="Captions that pictures carry")]


@hookimpl
def lilbee_search_stages() -> list[StageSpec]:
    return [
        StageSpec(
            name="acme-freshness",
            place=before("limit"),
            build=build_freshness,
            options=FreshnessOptions,
            summary="Recent documents gain on old ones",
        )
    ]
