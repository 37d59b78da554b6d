"""Offers everything that comes with lilbee through the same door as plugins. The one list of built-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lilbee_core.plugins import PluginHost


def plugin_host(
    *,
    plugins: Sequence[object] = (),
    disabled: Sequence[str] = (),
    strict: bool = False,
    options: Mapping[str, Mapping[str, object]] | None = None,
) -> PluginHost:
    """Return a host that knows the built-ins, the given plugins and the installed ones."""
    from lilbee_core import __version__
    from lilbee_core.extract import builtin_extractors, builtin_ocr_engines
    from lilbee_core.providers import builtin_providers

    host = PluginHost(plugins, disabled=disabled, strict=strict, options=options)
    host.register_builtin("extractors", builtin_extractors(), version=__version__, summary="Formats that lilbee reads")
    host.register_builtin("ocr", builtin_ocr_engines(), version=__version__, summary="Text on pictures")
    host.register_builtin("providers", builtin_providers(), version=__version__, summary="Where models come from")
    return host
