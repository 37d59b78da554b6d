"""What a chat model may do in a conversation: search and read, and, where that is allowed, keep what it learned."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from lilbee_core.library._parts import Parts
from lilbee_core.library._remembered import facts_of, notes_of, skills_of
from lilbee_core.types import Author, ConversationInfo, Note, SearchResult, Tool

if TYPE_CHECKING:
    from lilbee_core.chat import ToolBox

Arguments = Mapping[str, object]
_LONGEST_TEXT = 8_000
_MOST_NOTES = 10


def tools_for(parts: Parts, info: ConversationInfo, search: Callable[[str], SearchResult]) -> ToolBox:
    """Return the tools of a conversation, as the settings allow."""
    from lilbee_core.chat import ToolBox

    allowed = parts.settings.chat.chat_tools
    kit = _Kit(parts, Author(model=parts.chat_model, conversation=info.id), search)
    offered = kit.reading() if allowed != "off" else []
    offered += kit.writing() if allowed == "write" else []
    return ToolBox(tools=tuple(tool for tool, _ in offered), run={tool.name: run for tool, run in offered})


class _Kit:
    """The tools themselves. Whatever they write is signed, and stays a revision that can be gone back from."""

    def __init__(self, parts: Parts, author: Author, search: Callable[[str], SearchResult]) -> None:
        self._parts = parts
        self._author = author
        self._search = search

    def reading(self) -> list[tuple[Tool, Callable[[Arguments], str]]]:
        return [
            (_tool("search_documents", "Search the user's documents.", query="what to search for"), self._found),
            (
                _tool("read_document", "Read a document.", path="its path", optional={"lines": "such as 10-40"}),
                self._read,
            ),
            (_tool("search_notes", "Search saved notes.", query="words of the note"), self._notes_found),
            (_tool("read_note", "Read a saved note.", note="its id or name"), self._note),
            (_tool("read_skill", "Read a saved procedure before following it.", skill="its name"), self._skill),
        ]

    def writing(self) -> list[tuple[Tool, Callable[[Arguments], str]]]:
        return [
            (
                _tool(
                    "write_note",
                    "Save something long for later, or write a note anew.",
                    name="its name",
                    text="the whole note",
                    optional={"note": "the id of the note to write anew"},
                ),
                self._write_note,
            ),
            (
                _tool("remember_fact", "Remember one short fact that the user told.", fact="one sentence"),
                self._remember,
            ),
            (
                _tool(
                    "write_skill",
                    "Save a procedure that the user taught, for tasks of this kind.",
                    skill="a short name, such as weekly-report",
                    description="when it applies, in one line",
                    text="the steps",
                ),
                self._write_skill,
            ),
        ]

    # ------------------------------------------------------------------ reading

    def _found(self, arguments: Arguments) -> str:
        result = self._search(_need(arguments, "query"))
        if not result.hits:
            return "Nothing was found."
        return "\n\n".join(f"{hit.path} ({hit.chunk.location})\n{hit.text}" for hit in result.hits)

    def _read(self, arguments: Arguments) -> str:
        from lilbee_core.library._texts import passage, require

        store = self._parts.store
        lines = arguments.get("lines")
        row = require(store, _need(arguments, "path"))
        return passage(store, row, lines if isinstance(lines, str) else None).text[:_LONGEST_TEXT]

    def _notes_found(self, arguments: Arguments) -> str:
        found = notes_of(self._parts).list(_need(arguments, "query"))[:_MOST_NOTES]
        return "\n".join(f"{one.id}: {one.name}" for one in found) or "There is no such note."

    def _note(self, arguments: Arguments) -> str:
        return notes_of(self._parts).require(_need(arguments, "note")).text

    def _skill(self, arguments: Arguments) -> str:
        return skills_of(self._parts).require(_need(arguments, "skill")).text

    # ------------------------------------------------------------------ writing

    def _write_note(self, arguments: Arguments) -> str:
        name, text, old = _need(arguments, "name"), _need(arguments, "text"), arguments.get("note")
        shelf = notes_of(self._parts)
        if isinstance(old, str) and old:
            return _saved(shelf.edit(old, name=name, text=text, author=self._author))
        return _saved(shelf.add(text, name=name, author=self._author))

    def _remember(self, arguments: Arguments) -> str:
        return _saved(facts_of(self._parts).add(_need(arguments, "fact"), author=self._author))

    def _write_skill(self, arguments: Arguments) -> str:
        name, description = _need(arguments, "skill"), _need(arguments, "description")
        shelf = skills_of(self._parts)
        return _saved(shelf.add(_need(arguments, "text"), name=name, description=description, author=self._author))


def _saved(note: Note) -> str:
    return f"Saved as {note.kind} {note.id}, revision {note.revision}."


def _need(arguments: Arguments, name: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{name} must be a text")
    return value


def _tool(name: str, description: str, /, *, optional: Mapping[str, str] | None = None, **needed: str) -> Tool:
    properties = {key: {"type": "string", "description": text} for key, text in {**needed, **(optional or {})}.items()}
    schema = {"type": "object", "properties": properties, "required": sorted(needed)}
    return Tool(name=name, description=description, schema=json.dumps(schema))
