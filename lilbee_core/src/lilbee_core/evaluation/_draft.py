"""Drafts judged queries from the library's own documents, for people who have none."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lilbee_core.errors import InvalidArgument
from lilbee_core.evaluation._set import DRAFTED
from lilbee_core.text import fold_space, sentences
from lilbee_core.types import DocumentId, DocumentRow, StoredText

_FEWEST_WORDS, _MOST_WORDS = 3, 30
_MOST_CHARS = 200
_MOST_CHUNKS = 2000
_LOOKED_AT = 4000
_FENCED = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_NUMBER = re.compile(r"^[\d.]+\s+")
_NO_PROSE = ("#", "|", "-", "*", "$", "<!--", ">>>", "import ", "from ")
_LEAST_PROSE = 0.9
_NOT_IN_A_FIELD = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedQuery:
    """A query with the document it was taken from. `kind` says from what: ``heading`` or ``sentence``."""

    id: str
    text: str
    document: str
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftedQueries:
    """Queries made of headings and first sentences, each judged to be answered by the document it comes from.

    They repeat words of that document, and no other document was judged: figures over them are too good, above all
    those of word search. They show what is broken and are a start: rewrite them as you would ask, add what is missing.
    """

    drafted: tuple[DraftedQuery, ...]

    def __len__(self) -> int:
        return len(self.drafted)

    @property
    def queries(self) -> dict[str, str]:
        """Texts by id, as `Evaluation.run` takes them."""
        return {one.id: one.text for one in self.drafted}

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """Grades by query and document, as `Evaluation.run` takes them."""
        return {one.id: {one.document: 1} for one in self.drafted}

    def write(self, folder: str | Path) -> Path:
        """Write queries.jsonl and qrels.tsv for editing; `Evaluation.open` reads them.

        Each query keeps its drafted text beside it, so that those nobody has edited can be told.

        Raises:
            InvalidArgument: If one of the files is there already, since somebody may have edited it.
        """
        target = Path(folder).expanduser()
        queries, qrels = target / "queries.jsonl", target / "qrels.tsv"
        for path in (queries, qrels):
            if path.exists():
                raise InvalidArgument(f"{path} is there already", hint="Name another folder, or delete the file first.")
        target.mkdir(parents=True, exist_ok=True)
        rows = [
            {"_id": one.id, "text": one.text, "metadata": {DRAFTED: one.text, "kind": one.kind}} for one in self.drafted
        ]
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        queries.write_text(lines, encoding="utf-8", errors="surrogateescape", newline="\n")
        judged = "".join(f"{one.id}\t{one.document}\t1\n" for one in self.drafted)
        qrels.write_text(
            "query-id\tcorpus-id\tscore\n" + judged, encoding="utf-8", errors="surrogateescape", newline="\n"
        )
        return target

    def to_dict(self) -> dict[str, object]:
        return {
            "queries": [
                {"id": one.id, "text": one.text, "document": one.document, "kind": one.kind} for one in self.drafted
            ]
        }


def draft(
    rows: Iterable[DocumentRow], text_of: Callable[[DocumentId], StoredText | None], limit: int
) -> DraftedQueries:
    """Return at most `limit` queries, one for a document, from documents all over the library.

    Every other one is a heading where there is one that says something; a text that more than one of the documents
    looked at begins a query with is left out. The same library always gives the same.
    """
    ordered = sorted((row for row in rows if 0 < row.chunks <= _MOST_CHUNKS), key=lambda row: _digest(row.ref))
    # Some more than asked for, since not every document has a sentence that could be a question.
    offers = [(row, _offers(row, text)) for row in ordered[: 2 * limit] if (text := text_of(row.id)) is not None]
    common = Counter(text.casefold() for _, found in offers for text in dict.fromkeys(found.values()))
    drafted: list[DraftedQuery] = []
    for row, found in offers:
        kinds = ("heading", "sentence") if len(drafted) % 2 else ("sentence", "heading")
        kind = next((one for one in kinds if one in found and common[found[one].casefold()] == 1), None)
        if kind is not None and len(drafted) < limit:
            name = row.id if _NOT_IN_A_FIELD.search(row.ref) else row.ref
            query_id = f"d{_digest(row.ref, found[kind])[:10]}"
            drafted.append(DraftedQuery(id=query_id, text=found[kind], document=name, kind=kind))
    return DraftedQueries(drafted=tuple(drafted))


def _offers(row: DocumentRow, text: StoredText) -> Mapping[str, str]:
    """Return what of a document could be asked, by kind."""
    found: dict[str, str] = {}
    headings = [heading.title for heading in text.headings if heading.start >= text.body_start]
    # An inner heading says what is in the document; the first is often its name.
    for title in [*headings[1:], *headings[:1], row.title or ""]:
        if (folded := _NUMBER.sub("", fold_space(title.replace("`", "")))) and _says_something(folded):
            found["heading"] = folded
            break
    for sentence in _sentences(text.text[text.body_start : text.body_start + _LOOKED_AT]):
        if _says_something(sentence) and sentence != found.get("heading"):
            found["sentence"] = sentence
            break
    return found


def _sentences(text: str) -> Iterator[str]:
    prose = _FENCED.sub("\n\n", text)
    for span in sentences(prose):
        lines = [line for line in span.cut(prose).splitlines() if not line.lstrip().startswith(_NO_PROSE)]
        if folded := fold_space(" ".join(lines).replace("`", "")):
            yield folded


def _says_something(text: str) -> bool:
    """Say whether a text is prose, long enough to ask with and short enough to be asked."""
    prose = sum(sign.isalnum() or sign in " ,.?!'’-" or sign > "\u02af" for sign in text)
    if len(text) > _MOST_CHARS or prose < _LEAST_PROSE * len(text) or not any(sign.isalpha() for sign in text):
        return False
    unspaced = max(text) >= "\u0e00" and text.count(" ") * 8 < len(text)
    words = len(text) // 2 if unspaced else len(text.split())
    return _FEWEST_WORDS <= words <= (_MOST_CHARS if unspaced else _MOST_WORDS)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()
