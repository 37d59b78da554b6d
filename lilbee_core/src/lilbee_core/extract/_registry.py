"""Which extractor reads which file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from threading import Lock
from typing import Any

from lilbee_core.errors import PluginError
from lilbee_core.extract._media import detect_media_type
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices
from lilbee_core.protocols import Extractor


class ExtractorRegistry:
    """Chooses extractors by media type and file name ending, and builds each once. Threads may share it.

    The best match wins: a pinned one (`prefer`), then exact type or ending before pattern, then higher priority,
    then name.
    """

    def __init__(self, specs: Sequence[ExtractorSpec], *, prefer: Sequence[str] = ()) -> None:
        self._specs = tuple(sorted(specs, key=lambda spec: (-spec.priority, spec.name)))
        self._prefer = tuple(prefer)
        self._versions: dict[str, str] = {}
        self._chosen: dict[tuple[str, str], ExtractorSpec | None] = {}
        self._lock = Lock()
        self._suffixes = tuple({suffix.lower() for spec in specs for suffix in spec.suffixes})

    @property
    def specs(self) -> tuple[ExtractorSpec, ...]:
        """All extractors, best first among equals."""
        return self._specs

    def media_type(self, path: str, head: bytes) -> str:
        """Return the media type of a file from its name and first bytes."""
        return detect_media_type(path, head)

    def choose(self, path: str, media_type: str) -> ExtractorSpec | None:
        """Return the extractor for a file, or None when none reads it."""
        key = (self._ending(path), media_type)
        if key not in self._chosen:
            self._chosen[key] = self._choose(*key)
        return self._chosen[key]

    def _ending(self, path: str) -> str:
        name = path.rsplit("/", 1)[-1].lower()
        endings = [suffix for suffix in self._suffixes if name.endswith(suffix)]
        return max(endings, key=len, default="")

    def _choose(self, ending: str, media_type: str) -> ExtractorSpec | None:
        ranked = [(rank, spec) for spec in self._specs if (rank := self._rank(spec, ending, media_type)) is not None]
        return min(ranked, key=lambda pair: pair[0])[1] if ranked else None

    def _rank(self, spec: ExtractorSpec, ending: str, media_type: str) -> tuple[int, int, int, str] | None:
        if media_type in spec.media_types or (ending and ending in (one.lower() for one in spec.suffixes)):
            match = 0
        elif any(fnmatchcase(media_type, pattern) for pattern in spec.media_types):
            match = 1
        else:
            return None
        pinned = self._prefer.index(spec.name) if spec.name in self._prefer else len(self._prefer)
        return pinned, match, -spec.priority, spec.name

    def version_of(self, spec: ExtractorSpec) -> str:
        """Return ``name/version`` of an extractor, as `Document.extractor` carries it."""
        with self._lock:
            if spec.name not in self._versions:
                extractor = build_extractor(spec, {}, ExtractServices())
                self._versions[spec.name] = f"{extractor.name}/{extractor.version}"
            return self._versions[spec.name]


def build_extractor(spec: ExtractorSpec, options: Mapping[str, object], services: ExtractServices) -> Extractor:
    """Build an extractor with validated options.

    Raises:
        PluginError: If the options do not fit or the extractor cannot be built.
    """
    try:
        return spec.build(validated_options(spec, options), services)
    except Exception as error:
        raise PluginError(
            f"the extractor {spec.name!r} cannot be built: {type(error).__name__}: {error}",
            hint=f"Check [plugins.{spec.name}] in the configuration, or disable the plugin.",
        ) from error


def validated_options(spec: ExtractorSpec, options: Mapping[str, object]) -> Mapping[str, Any]:
    """Return options with defaults, checked by the extractor's own model."""
    if spec.options is None:
        return options
    return spec.options.model_validate(dict(options)).model_dump()
