"""A query as a caller gives it, completed by the settings."""

from __future__ import annotations

from lilbee_core.errors import InvalidArgument
from lilbee_core.settings import SearchSettings
from lilbee_core.types import Filter, Query, Scope


def asked(
    query: str | Query,
    options: SearchSettings,
    *,
    top_k: int | None,
    profile: str | None,
    filters: Filter | None,
    scope: Scope | str,
    diversify: bool,
) -> Query:
    """Return a whole query as it is, and make one of a text; what the caller left out is as the settings say.

    Raises:
        InvalidArgument: If a number or a word cannot be.
    """
    if isinstance(query, Query):
        return query
    if top_k is not None and top_k < 1:
        raise InvalidArgument(f"top_k must be at least 1, got {top_k}", hint="Ask for at least one hit.")
    try:
        chosen = Scope(scope)
    except ValueError as error:
        raise InvalidArgument(f"{scope!r} is no scope", hint="Choose raw, wiki or both.") from error
    return Query(
        text=query,
        filters=filters or Filter(),
        scope=chosen,
        top_k=top_k or options.top_k,
        profile=profile or options.profile,
        diversify=diversify,
    )
