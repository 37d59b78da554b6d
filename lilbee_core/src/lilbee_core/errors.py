"""The error tree.

::

    LilbeeError
    ├── SettingsError            settings.invalid, settings.unknown
    │   └── UntrustedSetting     settings.untrusted
    ├── StoreError               store.failed, store.full, store.read_only, store.damaged
    │   ├── StoreLocked          store.locked
    │   ├── StoreTooNew          store.too_new
    │   └── EmbedderMismatch     store.embedder_mismatch, store.embedder_unknown
    ├── LibraryError             library.invalid, library.closed
    │   └── NotFound             library.not_found
    ├── SourceUnavailable        source.unavailable
    ├── ExtractError             extract.failed, extract.damaged
    │   ├── UnsupportedFormat    extract.unsupported
    │   ├── EncryptedDocument    extract.encrypted
    │   ├── NoText               extract.no_text
    │   ├── NotReadable          extract.not_readable
    │   ├── LimitExceeded        extract.limit
    │   └── UnsafeContent        extract.unsafe
    ├── ProviderError            provider.failed
    │   ├── ModelNotFound        provider.model_not_found
    │   ├── ProviderUnavailable  provider.unavailable
    │   ├── InputTooLong         provider.too_long
    │   ├── EmptyReply           provider.empty_reply
    │   ├── ModelFileError       provider.model_file
    │   └── HubError             provider.hub, provider.hub_denied, provider.checksum, provider.disk_full
    ├── CrawlError               crawl.failed, crawl.http, crawl.not_written, crawl.rate_limited, crawl.robots,
    │   │                        crawl.running, crawl.timeout, crawl.too_large, crawl.unreachable, crawl.unsupported
    │   └── BlockedAddress       crawl.blocked_address
    ├── FleetError               fleet.failed, fleet.bad_model, fleet.busy, fleet.closed, fleet.died,
    │   │                        fleet.engine_too_old, fleet.gone, fleet.no_devices, fleet.no_engine,
    │   │                        fleet.no_projector, fleet.out_of_memory, fleet.port_taken, fleet.start_failed,
    │   │                        fleet.start_timeout, fleet.unserved, fleet.wrong_model, fleet.wrong_processor,
    │   │                        fleet.wrong_role
    │   └── PlacementError       fleet.placement, fleet.does_not_fit
    ├── SearchError              search.failed
    │   ├── EmptyQuery           search.empty_query
    │   ├── InvalidFilter        search.invalid_filter
    │   └── StageError           search.stage
    ├── WikiError                wiki.failed
    ├── PluginError              plugin.failed
    ├── ExtraMissing             extra.missing
    ├── InvalidArgument          argument.invalid
    └── Cancelled                cancelled

Every error has a message (what happened, with the value that caused it), a `hint` (what to do next,
in the imperative) and a stable `code`. Bugs raise ``ValueError`` or ``TypeError`` and are not dressed up.
"""

from __future__ import annotations

from typing import ClassVar


class LilbeeDeprecationWarning(DeprecationWarning):
    """Something of the public API that will go away."""


class LilbeeError(Exception):
    """Base of all errors that a caller may want to handle."""

    default_code: ClassVar[str] = "lilbee.error"

    def __init__(self, message: str, *, hint: str = "", code: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code or self.default_code

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process pools; the default would drop the keyword arguments.
        return _rebuild, (type(self), self.message, self.hint, self.code)

    def to_dict(self) -> dict[str, object]:
        return {"code": self.code, "message": self.message, "hint": self.hint}


def _rebuild(kind: type[LilbeeError], message: str, hint: str, code: str) -> LilbeeError:
    return kind(message, hint=hint, code=code)


class SettingsError(LilbeeError):
    """A setting is unknown or has a bad value."""

    default_code = "settings.invalid"


class UntrustedSetting(SettingsError):
    """A library that is not trusted sets something that could run or leak."""

    default_code = "settings.untrusted"


class StoreError(LilbeeError):
    """The index could not be read or written."""

    default_code = "store.failed"


class StoreLocked(StoreError):
    """Another process writes to the library and did not finish in time."""

    default_code = "store.locked"


class StoreTooNew(StoreError):
    """The index was written by a newer version."""

    default_code = "store.too_new"


class EmbedderMismatch(StoreError):
    """The configured embedder is not the one that built the index."""

    default_code = "store.embedder_mismatch"


class LibraryError(LilbeeError):
    """The library cannot be opened or used as asked."""

    default_code = "library.invalid"


class NotFound(LibraryError):
    """A named document, collection, model or library does not exist."""

    default_code = "library.not_found"


class SourceUnavailable(LilbeeError):
    """The folder of a collection is missing, unmounted or suddenly empty."""

    default_code = "source.unavailable"


class ExtractError(LilbeeError):
    """A file could not be turned into text."""

    default_code = "extract.failed"


class UnsupportedFormat(ExtractError):
    """No extractor reads this kind of file."""

    default_code = "extract.unsupported"


class EncryptedDocument(ExtractError):
    """The file is protected by a password."""

    default_code = "extract.encrypted"


class NoText(ExtractError):
    """The file holds no text that can be read (a scan, for example)."""

    default_code = "extract.no_text"


class NotReadable(ExtractError):
    """The file cannot be opened."""

    default_code = "extract.not_readable"


class LimitExceeded(ExtractError):
    """The file is too big, too deep or takes too long."""

    default_code = "extract.limit"


class UnsafeContent(ExtractError):
    """The file tries to do harm: a bomb, an external entity, a path that leaves its archive."""

    default_code = "extract.unsafe"


class ProviderError(LilbeeError):
    """A model or the server that runs it failed."""

    default_code = "provider.failed"


class ModelNotFound(ProviderError):
    """The provider does not know the model."""

    default_code = "provider.model_not_found"


class ProviderUnavailable(ProviderError):
    """The server cannot be reached."""

    default_code = "provider.unavailable"


class InputTooLong(ProviderError):
    """The input does not fit the model."""

    default_code = "provider.too_long"


class EmptyReply(ProviderError):
    """The chat model answered nothing."""

    default_code = "provider.empty_reply"


class ModelFileError(ProviderError):
    """A model file is damaged, cut off, or not what it was taken for."""

    default_code = "provider.model_file"


class HubError(ProviderError):
    """Models could not be looked for or fetched."""

    default_code = "provider.hub"


class CrawlError(LilbeeError):
    """A page of the web could not be fetched or kept."""

    default_code = "crawl.failed"


class BlockedAddress(CrawlError):
    """An address that is not of the web, or lies inside the user's own network."""

    default_code = "crawl.blocked_address"


class FleetError(LilbeeError):
    """A managed model server could not be planned, started or kept alive."""

    default_code = "fleet.failed"


class PlacementError(FleetError):
    """A placement that makes no sense, or no longer fits the cards it names."""

    default_code = "fleet.placement"


class SearchError(LilbeeError):
    """A search could not be run."""

    default_code = "search.failed"


class EmptyQuery(SearchError):
    """The query holds nothing to search for."""

    default_code = "search.empty_query"


class InvalidFilter(SearchError):
    """A filter names an unknown field or has a bad value."""

    default_code = "search.invalid_filter"


class StageError(SearchError):
    """A stage of the search pipeline failed or is misplaced."""

    default_code = "search.stage"


class WikiError(LilbeeError):
    """The wiki could not be built or changed."""

    default_code = "wiki.failed"


class PluginError(LilbeeError):
    """A plugin is broken."""

    default_code = "plugin.failed"


class ExtraMissing(LilbeeError):
    """An optional part is not installed; the hint is the pip line."""

    default_code = "extra.missing"


class InvalidArgument(LilbeeError):
    """An argument has a value that cannot be used."""

    default_code = "argument.invalid"


class Cancelled(LilbeeError):
    """The work was cancelled on request; what was committed stays."""

    default_code = "cancelled"
