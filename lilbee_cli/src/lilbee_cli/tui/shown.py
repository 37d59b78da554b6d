"""Values as texts for the screens. What comes from documents, models or names is made visible and steers nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from lilbee_cli.render.text import clean, counted, line, place
from lilbee_core.text import marked_pieces, snippet_pieces

if TYPE_CHECKING:
    from lilbee_core import Citation, Hit
    from lilbee_core.types import ConversationMessage, LibraryStatus, Passage, Usage, WikiDiff

MARK = "bold underline"
"""How words of the query stand out, also where there is no color."""
HEAD = "bold"
DIM = "dim"
BAD = "bold red"
_LONGEST_SNIPPET = 200
_SPACE = re.compile(r"\s+")


def hit_entry(hit: Hit, *, found: bool, width: int = 60) -> Text:
    """Return a hit for the list: where it stands, and the words around what was searched."""
    out = Text(no_wrap=False, overflow="fold")
    out.append(f"{hit.rank:>2} {place(hit)}", HEAD)
    out.append(f"  {hit.score:.2f}" if found else "  weak", DIM)
    if hit.stale:
        out.append("  changed since", BAD)
    name = hit.symbol or hit.heading or hit.chunk.title
    if name:
        out.append("\n" + line(name)[:width], "italic")
    out.append("\n")
    out.append_text(_folded(snippet_pieces(hit)))
    return out


def _folded(pieces: Iterator[tuple[str, bool]]) -> Text:
    """Return pieces on one line, at most so many characters."""
    out = Text()
    for piece, marked in pieces:
        flat = _SPACE.sub(" ", piece)
        out.append(flat.lstrip() if not out or out.plain.endswith(" ") else flat, MARK if marked else "")
        if len(out) > _LONGEST_SNIPPET:
            out.append("…")
            break
    return out


def passage_alone(hit: Hit) -> Text:
    """Return a passage with line numbers, where the document has lines."""
    pieces = [(text, MARK if marked else "") for text, marked in marked_pieces(hit, 0, len(hit.text))]
    return numbered(pieces, hit.line_start)


def passage_in_place(hit: Hit, around: Passage) -> tuple[Text, int]:
    """Return a passage amid what stands around it, with line numbers; and the row where it begins."""
    start = max(0, hit.chunk.span.start - around.span.start)
    end = min(len(around.text), start + len(hit.text))
    pieces = [(clean(around.text[:start]), DIM)]
    if around.text[start:end] == hit.text:
        pieces += [(text, MARK if marked else "") for text, marked in marked_pieces(hit, 0, len(hit.text))]
    else:
        pieces.append((clean(around.text[start:end]), ""))
    pieces.append((clean(around.text[end:]).rstrip("\n"), DIM))
    before = pieces[0][0].count("\n")
    return numbered(pieces, around.location.line_start), before


def numbered(pieces: Sequence[tuple[str, str]], first: int | None) -> Text:
    """Return pieces as one text with line numbers, where the document has lines."""
    whole = Text(overflow="fold")
    for text, style in pieces:
        whole.append(text, style)
    if first is None:
        return whole
    lines = whole.split("\n", allow_blank=True)
    digits = len(str(first + len(lines)))
    out = Text(overflow="fold")
    for number, one in enumerate(lines, start=first):
        out.append(f"{number:>{digits}} ", DIM)
        out.append_text(one)
        out.append("\n")
    out.right_crop(1)
    return out


def citation_entry(one: Citation) -> Text:
    """Return a citation for a list."""
    out = Text(overflow="ellipsis", no_wrap=True)
    out.append(f"[{one.marker}] {place(one)}", HEAD)
    if one.stale:
        out.append("  changed since", BAD)
    quote = line(" ".join(one.quote.split()))
    out.append(f"\n    {quote[:_LONGEST_SNIPPET]}" + ("…" if len(quote) > _LONGEST_SNIPPET else ""), DIM)
    return out


def message(one: ConversationMessage) -> Text:
    """Return a message of a conversation."""
    mine = one.role == "user"
    out = Text(overflow="fold")
    out.append("you\n" if mine else "lilbee\n", "bold cyan" if mine else "bold green")
    for attachment in one.attachments:
        out.append(line(f"[attached: {attachment.name}]") + "\n", DIM)
    out.append(clean(one.content))
    if mine:
        return out
    if str(one.state) == "partial":
        out.append("\n(cut off)", DIM)
    for citation in one.citations:
        out.append(f"\n[{citation.marker}] {place(citation)}", DIM)
    for warning in one.warnings:
        out.append(f"\nnote: {line(warning)}", DIM)
    told = [f"{one.seconds:.1f} s"] if one.seconds else []
    if one.usage is not None:
        told.append(usage(one.usage, one.context_tokens))
    if one.model:
        told.append(line(one.model))
    if told:
        out.append("\n" + ", ".join(told), DIM)
    return out


def usage(value: Usage, context_tokens: int | None) -> str:
    """Say what a reply took, with ~ before what is estimated."""
    about = "~" if value.estimated else ""
    told = f"{about}{value.prompt_tokens} + {about}{value.completion_tokens} tokens"
    if context_tokens:
        told += f", {about}{100 * (value.prompt_tokens + value.completion_tokens) // context_tokens} % of the context"
    return told


def status(value: LibraryStatus) -> Text:
    """Return the state of a library."""
    out = Text(overflow="fold")
    for name, one in value.summary():
        out.append(f"{name:<18} {line(str(one))}\n")
    for collection in value.collections:
        out.append(f"{'collection':<18} {line(collection.name)}: {counted(collection.documents, 'document')}, ")
        out.append(line(collection.root or "from memory"))
        out.append("\n" if collection.available else "  (folder is missing)\n", "" if collection.available else BAD)
    for problem in value.problems:
        out.append("failed: ", BAD)
        out.append(line(f"{problem.path}: {problem.reason} [{problem.code}]") + "\n")
    for warning in value.warnings:
        out.append("warning: ", BAD)
        out.append(line(warning) + "\n")
    return out


def page(title: str, body: str) -> Text:
    """Return a page of the wiki: headings stand out, the rest as it is written."""
    out = Text(overflow="fold")
    for one in clean(body).split("\n"):
        out.append(one + "\n", HEAD if one.startswith("#") else "")
    return out if body.lstrip().startswith("#") else Text.assemble((line(title) + "\n\n", HEAD), out)


def draft(value: WikiDiff) -> Text:
    """Return what a draft would change, line by line: with signs, and in color where there is any."""
    out = Text(f"{line(value.title)}: {line(value.reason)}\n", "bold", overflow="fold")
    out.append("n throws it away\n\n" if value.is_pending else "y publishes it, n throws it away\n\n", DIM)
    styles = {"+": "green", "-": "red", "@": "bold cyan"}
    for one in clean(value.diff).split("\n"):
        out.append(one + "\n", styles.get(one[:1], ""))
    for one in value.dropped:
        out.append(f"\nnot borne out: {line(one)}", DIM)
    return out


def share(done: int, total: int | None) -> str:
    """Return how far something is: a bar in ASCII, so that every terminal shows it."""
    if not total:
        return str(done) if done else ""
    filled = max(0, min(10, 10 * done // total))
    return f"[{'#' * filled}{'.' * (10 - filled)}] {done}/{total}"
