"""What a chat model is asked to reply, and what can be read of a reply that is broken or cut off."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from lilbee_core.text import fold_space, sentences

MOST_SENTENCES = 6
_LONGEST_TITLE, _LONGEST = 80, 500
_MOST_PASSAGES = 3
_MARK = re.compile(r"\s*\[(\d{1,4})\]")
_BEGIN = re.compile(r'\{\s*"(?:pages|sentences)"\s*:')
_ANY = re.compile(r"[{\[]")
_SIGNS = re.compile(r'["\\{}\[\]]')


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence of a reply, and the passages that it names, counted from 1."""

    text: str
    passages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """What a reply says about one thing."""

    title: str
    said: tuple[Said, ...]


def source_schema(passages: int, titles: Sequence[str] = (), *, most: int) -> str:
    """Return the JSON schema of a reply about a document; where `titles` are given it may speak of nothing else."""
    title: dict[str, object] = {"type": "string"}
    if titles:
        title["enum"] = list(titles)
    page = _object(title=title, sentences=_sentences(passages))
    pages = {"type": "array", "maxItems": most, "items": page}
    return json.dumps(_object(pages=pages), ensure_ascii=False)


def topic_schema(passages: int, *, most: int) -> str:
    """Return the JSON schema of a reply about a topic."""
    return json.dumps(_object(sentences=_sentences(passages, most=most)), ensure_ascii=False)


def _sentences(passages: int, *, most: int = MOST_SENTENCES) -> dict[str, object]:
    number = {"type": "integer", "minimum": 1, "maximum": max(1, passages)}
    numbers = {"type": "array", "minItems": 1, "maxItems": _MOST_PASSAGES, "items": number}
    return {"type": "array", "maxItems": most, "items": _object(text={"type": "string"}, passages=numbers)}


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


# ---------------------------------------------------------------- reading


def sections_in(reply: str) -> tuple[Section, ...]:
    """Return what a reply about a document says; of one that is cut off, what is whole."""
    value = _loaded(reply)
    pages = value.get("pages") if isinstance(value, dict) else value
    found: list[Section] = []
    for page in _each(pages):
        title = fold_space(str(page.get("title") or ""))[:_LONGEST_TITLE].strip()
        said = tuple(_said(page.get("sentences")))
        if title and said and any(sign.isalnum() for sign in title):
            found.append(Section(title, said))
    return tuple(found)


def sentences_in(reply: str) -> tuple[Said, ...]:
    """Return the sentences of a reply about a topic; of one that is cut off, those that are whole."""
    value = _loaded(reply)
    return tuple(_said(value.get("sentences") if isinstance(value, dict) else value))


def says_nothing(reply: str) -> bool:
    """Say whether a reply is whole and has nothing to say: that is an answer too."""
    value = _loaded(reply)
    return isinstance(value, dict) and value.get("pages") == []


def _each(value: object) -> Iterator[Mapping[str, Any]]:
    for one in cast("list[object]", value) if isinstance(value, list) else ():
        if isinstance(one, dict):
            yield cast("Mapping[str, Any]", one)


def _said(value: object) -> Iterator[Said]:
    """Yield the sentences of a list, each of several in one text for itself."""
    for one in cast("list[object]", value) if isinstance(value, list) else ():
        text, numbers = _text_of(one)
        for span in sentences(text):
            marks = [int(mark) for mark in _MARK.findall(span.cut(text))]
            told = fold_space(_MARK.sub("", span.cut(text)))
            if told and len(told) <= _LONGEST:
                yield Said(told, tuple(dict.fromkeys([*numbers, *marks])))


def _text_of(value: object) -> tuple[str, list[int]]:
    if isinstance(value, str):
        return value, []
    if not isinstance(value, dict):
        return "", []
    entry = cast("Mapping[str, object]", value)
    numbers = entry.get("passages")
    listed = cast("list[object]", numbers) if isinstance(numbers, list) else [numbers]
    marks = [int(one) for one in listed if isinstance(one, int) or (isinstance(one, str) and one.strip().isdecimal())]
    return str(entry.get("text") or ""), marks


def _loaded(reply: str) -> dict[str, Any] | list[Any]:
    """Read the JSON in a reply, what stands around it left out, closed where it was cut off."""
    begin = _BEGIN.search(reply) or _ANY.search(reply)
    if begin is None:
        return []
    told = reply[begin.start() :]
    for candidate in (told, _closed(told)):
        try:
            value: Any = json.JSONDecoder(strict=False).raw_decode(candidate)[0]
        except (ValueError, RecursionError):
            continue
        return cast("dict[str, Any] | list[Any]", value) if isinstance(value, dict | list) else []
    return []


def _closed(text: str) -> str:
    """Return JSON up to the last object in it that is whole, with what is open then closed."""
    stack: list[str] = []
    best, ends = 0, ""
    at = 0
    in_string = False
    while (sign := _SIGNS.search(text, at)) is not None:
        at = sign.end()
        if sign[0] == "\\":
            at += 1 if in_string else 0
        elif sign[0] == '"':
            in_string = not in_string
        elif in_string:
            continue
        elif sign[0] in "{[":
            stack.append("}" if sign[0] == "{" else "]")
        elif not stack or stack.pop() != sign[0]:
            break
        elif sign[0] == "}":
            best, ends = at, "".join(reversed(stack))
    return text[:best] + ends
