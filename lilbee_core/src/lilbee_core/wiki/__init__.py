"""The wiki: pages about what many documents say, every sentence with its source, as files that people can edit."""

from lilbee_core.wiki._extractive import ExtractiveWiki
from lilbee_core.wiki._folder import WikiFolder, summary
from lilbee_core.wiki._slugs import slug_of

__all__ = ["ExtractiveWiki", "WikiFolder", "slug_of", "summary"]
