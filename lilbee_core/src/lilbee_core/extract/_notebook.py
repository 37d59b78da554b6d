"""Jupyter notebooks: cells and their printed output, without pictures."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from lilbee_core.extract._headings import markdown_headings
from lilbee_core.extract._loose import fields, items
from lilbee_core.extract._reading import check_length, damaged, no_text, read_text
from lilbee_core.protocols import ExtractContext
from lilbee_core.types import Document, Heading, Metadata, Segment, Source, Span

GAP = "\n\n"
_MAX_OUTPUT_CHARS = 4000
_COLORS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_NO_WORDS = re.compile(r"<[^<>\n]{0,200}(?: at 0x[0-9a-f]+|Figure size [^<>\n]*)[^<>\n]{0,100}>")

Json = Mapping[str, object]


@dataclass(slots=True)
class _Text:
    """The text as it grows."""

    pieces: list[str] = field(default_factory=list[str])
    segments: list[Segment] = field(default_factory=list[Segment])
    headings: list[Heading] = field(default_factory=list[Heading])
    length: int = 0

    def add(self, label: str, body: str, *, prose: str = "") -> None:
        if not body.strip():
            return
        start = self.length + (len(GAP) if self.pieces else 0)
        self.headings += [
            Heading(start=start + heading.start, level=heading.level, title=heading.title)
            for heading in markdown_headings(prose)
        ]
        self.segments.append(Segment(span=Span(start, start + len(body)), label=label))
        self.pieces.append(body)
        self.length = start + len(body)


class NotebookExtractor:
    """Reads notebooks cell by cell; a hit names its cell. Threads may share it."""

    name = "notebook"
    version = "1"
    in_process = True

    def extract(self, source: Source, context: ExtractContext) -> Document:
        """Return the cells' text with what they printed.

        Raises:
            ExtractError: If the file is no notebook, cannot be read or is too long.
        """
        decoded = read_text(source, context)
        if not decoded.text.strip():
            raise no_text(source)
        notebook = _parse(source, decoded.text)
        text = _Text()
        for number, cell in enumerate(_cells(notebook), start=1):
            _add_cell(text, number, cell)
        if not text.pieces:
            raise no_text(source)
        joined = GAP.join(text.pieces)
        check_length(source, joined, context)
        first = next((heading.title for heading in text.headings if heading.level == 1), None)
        language = _language(notebook)
        return Document(
            path=source.path,
            collection=source.collection,
            media_type=source.media_type,
            text=joined,
            title=first,
            metadata=Metadata(cells=len(text.segments), **({"code": language} if language else {})),
            has_lines=False,
            segments=tuple(text.segments),
            headings=tuple(text.headings),
            warnings=(decoded.warning,) if decoded.warning else (),
        )


def _parse(source: Source, text: str) -> Json:
    try:
        found = fields(json.loads(text))
    except ValueError as error:
        raise damaged(source, "it is not valid JSON") from error
    if not ("cells" in found or "worksheets" in found):
        raise damaged(source, "it has no cells")
    return found


def _items(value: object) -> Iterator[Json]:
    return (fields(item) for item in items(value))


def _cells(notebook: Json) -> Iterator[Json]:
    yield from _items(notebook.get("cells"))
    for sheet in _items(notebook.get("worksheets")):
        yield from _items(sheet.get("cells"))


def _joined(value: object) -> str:
    """Return a multi-line string, which notebooks keep as one string or as a list of lines."""
    if isinstance(value, str):
        return value
    return "".join(line for line in items(value) if isinstance(line, str))


def _add_cell(text: _Text, number: int, cell: Json) -> None:
    label = f"cell {number}"
    body = (_joined(cell.get("source")) or _joined(cell.get("input"))).strip("\n")
    if cell.get("cell_type") == "code":
        outputs = [output for one in _items(cell.get("outputs")) if (output := _output(one))]
        text.add(label, GAP.join(part for part in (body, *outputs) if part.strip()))
    elif cell.get("cell_type") == "heading":
        level = cell.get("level")
        marks = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
        text.add(label, f"{marks} {body}", prose=f"{marks} {body}")
    else:
        text.add(label, body, prose=body if cell.get("cell_type") == "markdown" else "")


def _output(output: Json) -> str:
    kind = output.get("output_type")
    if kind == "stream":
        found = _joined(output.get("text"))
    elif kind in {"error", "pyerr"}:
        found = f"{_joined(output.get('ename'))}: {_joined(output.get('evalue'))}"
    else:
        bundle = fields(output.get("data", output))
        found = _joined(bundle.get("text/markdown")) or _joined(bundle.get("text/plain")) or _joined(bundle.get("text"))
    plain = _NO_WORDS.sub("", _COLORS.sub("", found[: 4 * _MAX_OUTPUT_CHARS])).strip("\n")
    return plain[:_MAX_OUTPUT_CHARS] if plain.strip() else ""


def _language(notebook: Json) -> str | None:
    metadata = fields(notebook.get("metadata"))
    names = (fields(metadata.get("language_info")).get("name"), fields(metadata.get("kernelspec")).get("language"))
    return next((name for name in names if isinstance(name, str) and name), None)
