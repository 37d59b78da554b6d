"""The wiki: pages about what many documents say, every sentence with its source, as files that people can edit."""

from lilbee_core.wiki._asking import Call, Names, NoteTaker, Request, names_in
from lilbee_core.wiki._builder import Choices, Limits, WikiBuilder
from lilbee_core.wiki._decide import Change, Folder
from lilbee_core.wiki._entries import Entry
from lilbee_core.wiki._folder import FOLDERS, WikiFolder, summary
from lilbee_core.wiki._links import backlinks, links_of
from lilbee_core.wiki._lint import lint
from lilbee_core.wiki._markdown import StoredPage, as_published, digest, searchable, with_body
from lilbee_core.wiki._memory import PageMemory
from lilbee_core.wiki._merge import difference, merge
from lilbee_core.wiki._noted import Source
from lilbee_core.wiki._notes import NoteBook, SourceNotes, Titles
from lilbee_core.wiki._records import kept
from lilbee_core.wiki._slugs import slug_of

__all__ = [
    "FOLDERS", "Call", "Change", "Choices", "Entry", "Folder", "Limits", "Names", "NoteBook", "NoteTaker", "PageMemory",
    "Request", "Source", "SourceNotes", "StoredPage", "Titles", "WikiBuilder", "WikiFolder", "as_published",
    "backlinks", "difference", "digest", "kept", "links_of", "lint", "merge", "names_in", "searchable", "slug_of",
    "summary", "with_body",
]  # fmt: skip
