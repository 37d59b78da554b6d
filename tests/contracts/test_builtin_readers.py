"""The extractors and the chunker that come with lilbee keep to the contracts."""

from __future__ import annotations

import json
from collections.abc import Sequence

from lilbee_core.chunking import TokenChunker
from lilbee_core.extract import builtin_extractors
from lilbee_core.plugins.specs import ExtractServices
from lilbee_core.protocols import Chunker, Extractor
from lilbee_core.testing import HashEmbedder, a_source
from lilbee_core.testing.contracts import ChunkerContract, ExtractorContract
from lilbee_core.types import Source

MARKDOWN = """---
title: Bees
tags: [insects, home]
---
# Bees

They find home by the sun.

## Honey

- keeps for years
- is sweet

```python
print("honey")
```
"""
CODE = '''"""A hive."""

import math


class Hive:
    """Warm in winter."""

    def open(self) -> int:
        return math.floor(35.5)


def find_home(sun: str) -> str:
    return sun
'''


def builtin(name: str) -> Extractor:
    spec = next(one for one in builtin_extractors() if one.name == name)
    return spec.build({}, ExtractServices())


class TestTextExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("text")

    def sources(self) -> Sequence[Source]:
        return [
            a_source("Bees find home.\nBy the sun.\n"),
            a_source("one\r\ntwo\r\n\r\nthree", path="windows.txt"),
            a_source("Bienenkönigin".encode("utf-16"), path="utf16.txt"),
            a_source("Straße\n".encode("latin-1") * 40, path="latin.txt"),
        ]


class TestMarkdownExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("markdown")

    def sources(self) -> Sequence[Source]:
        return [
            a_source(MARKDOWN, path="bees.md", media_type="text/markdown"),
            a_source(MARKDOWN.replace("\n", "\r\n"), path="windows.md", media_type="text/markdown"),
            a_source("no heading at all", path="plain.md", media_type="text/markdown"),
        ]


class TestCodeExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("code")

    def sources(self) -> Sequence[Source]:
        return [
            a_source(CODE, path="hive.py", media_type="text/x-python"),
            a_source('fn main() {\n    println!("bees");\n}\n', path="main.rs", media_type="text/x-rust"),
        ]


class TestHtmlExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("html")

    def sources(self) -> Sequence[Source]:
        page = (
            "<html><head><title>Bees</title></head>\n<body><h1>Bees</h1>\n<p>They find <b>home</b>.</p></body></html>\n"
        )
        return [a_source(page, path="bees.html", media_type="text/html")]


class TestDataExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("data")

    def sources(self) -> Sequence[Source]:
        return [
            a_source(
                '{"hive": 7, "queen": {"name": "Ada",\n "marked": true}}\n',
                path="a.json",
                media_type="application/json",
            ),
            a_source("hive: 7\nqueen:\n  name: Ada\n", path="a.yaml", media_type="application/yaml"),
        ]


class TestTableExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("table")

    def sources(self) -> Sequence[Source]:
        return [a_source('hive,queen\n7,"Ada,\nthe first"\n8,Bo\n', path="hives.csv", media_type="text/csv")]


class TestXmlExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("xml")

    def sources(self) -> Sequence[Source]:
        text = '<?xml version="1.0"?>\n<hives>\n  <hive id="7">warm in winter</hive>\n</hives>\n'
        return [a_source(text, path="hives.xml", media_type="application/xml")]


class TestNotebookExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("notebook")

    def sources(self) -> Sequence[Source]:
        cells = [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Bees\n", "They find home."]},
            {"cell_type": "code", "metadata": {}, "source": ["print(35)"], "outputs": [], "execution_count": None},
        ]
        text = json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}, indent=1)
        return [a_source(text, path="bees.ipynb", media_type="application/x-ipynb+json")]


class TestMailExtractor(ExtractorContract):
    def make(self) -> Extractor:
        return builtin("mail")

    def sources(self) -> Sequence[Source]:
        mail = (
            "From: Ada <ada@club.example>\nTo: bo@club.example\nSubject: Swarm\nDate: Sun, 3 May 2026 10:00:00 +0200\n"
        )
        return [a_source(f"{mail}\nHive seven swarmed.\nBring a box.\n", path="swarm.eml", media_type="message/rfc822")]


class TestTokenChunker(ChunkerContract):
    def make(self) -> Chunker:
        return TokenChunker(HashEmbedder(), chunk_size=60, overlap=10, max_tokens=256)


class TestTokenChunkerWithoutOverlap(ChunkerContract):
    def make(self) -> Chunker:
        return TokenChunker(HashEmbedder(), chunk_size=20, overlap=0, max_tokens=256)
