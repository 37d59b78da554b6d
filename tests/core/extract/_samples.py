"""Extractors that misbehave, importable so that worker processes can build them."""

from __future__ import annotations

import os
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel

from lilbee_core.errors import NoText
from lilbee_core.plugins.specs import ExtractorSpec, ExtractServices, Options
from lilbee_core.protocols import ExtractContext, Extractor
from lilbee_core.types import Document, Source


@dataclass
class Sample:
    """Does what the source's media type says."""

    name: str = "acme-sample"
    version: str = "7"
    in_process: bool = False
    greeting: str = "hello"
    files: list[str] = field(default_factory=list)

    def extract(self, source: Source, context: ExtractContext) -> Document:
        self.files.append(source.path)
        return getattr(self, source.media_type.rsplit("/", 1)[-1].removeprefix("x-"))(source, context)

    def document(self, source: Source, text: str, **more: Any) -> Document:
        return Document(path=source.path, collection=source.collection, text=text, **more)

    def pid(self, source: Source, context: ExtractContext) -> Document:
        return self.document(source, str(os.getpid()))

    def count(self, source: Source, context: ExtractContext) -> Document:
        return self.document(source, f"{os.getpid()} {len(self.files)}")

    def options(self, source: Source, context: ExtractContext) -> Document:
        return self.document(source, f"{self.greeting} {context.password} {','.join(context.languages)}")

    def hang(self, source: Source, context: ExtractContext) -> Document:
        while True:
            time.sleep(1)

    def polite(self, source: Source, context: ExtractContext) -> Document:
        while True:
            context.check()
            time.sleep(0.01)

    def slow(self, source: Source, context: ExtractContext) -> Document:
        time.sleep(0.3)
        return self.document(source, "slow")

    def crash(self, source: Source, context: ExtractContext) -> Document:
        os.abort()

    def crash_later(self, source: Source, context: ExtractContext) -> Document:
        """Bring down the process while it reads some other file."""
        threading.Timer(0.1, os.abort).start()
        return self.document(source, "fine so far")

    def allocate(self, source: Source, context: ExtractContext) -> Document:
        blocks = [bytearray(64 * 1024 * 1024) for _ in range(10_000)]
        return self.document(source, str(len(blocks)))

    def swell(self, source: Source, context: ExtractContext) -> Document:
        """Take memory little by little, as a leak does."""
        blocks: list[bytes] = []
        while True:
            blocks.append(b"x" * (8 * 1024 * 1024))
            time.sleep(0.01)

    def rust_abort(self, source: Source, context: ExtractContext) -> Document:
        os.write(2, b"memory allocation of 99 bytes failed\n")
        os.abort()

    def deep(self, source: Source, context: ExtractContext) -> Document:
        return self.deep(source, context)

    def bug(self, source: Source, context: ExtractContext) -> Document:
        raise KeyError("engine internals")

    def no_text(self, source: Source, context: ExtractContext) -> Document:
        raise NoText(f"{source.path} is empty", hint="do it", code="extract.no_text")

    def noise(self, source: Source, context: ExtractContext) -> Document:
        print("out", flush=True)
        os.write(1, b"raw out\n" * 5000)
        sys.stderr.write("err")
        print(sys.stdin.read())
        return self.document(source, "quiet")

    def long(self, source: Source, context: ExtractContext) -> Document:
        return self.document(source, "x" * (context.max_chars + 1))

    def unpicklable(self, source: Source, context: ExtractContext) -> Document:
        document = self.document(source, "x")
        object.__setattr__(document, "date", lambda: None)
        return document

    def nothing(self, source: Source, context: ExtractContext) -> Document:
        return None  # type: ignore[return-value]


class SampleOptions(BaseModel):
    greeting: str = "hello"


def build(options: Options, services: ExtractServices) -> Extractor:
    return Sample(greeting=options.get("greeting", "none"))


def build_here(options: Options, services: ExtractServices) -> Extractor:
    return Sample(name="acme-here", in_process=True)


def build_broken(options: Options, services: ExtractServices) -> Extractor:
    raise RuntimeError("no licence key")


SPECS = (
    ExtractorSpec(name="acme-sample", media_types=("x-acme/*",), build=build, options=SampleOptions),
    ExtractorSpec(name="acme-here", media_types=("x-here/*",), build=build_here),
    ExtractorSpec(name="acme-broken", media_types=("x-broken/*",), build=build_broken),
)
