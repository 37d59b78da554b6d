"""Office files as packages: zip archives of XML parts, opened with limits and without entities."""

from __future__ import annotations

import io
import lzma
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from xml.etree.ElementTree import Element, ParseError, fromstring

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, UnsafeContent
from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._reading import damaged
from lilbee_core.extract._unlock import OLE
from lilbee_core.types import Metadata, Source

MAX_PART_BYTES = 96 * 1024 * 1024
_CORE = "docProps/core.xml"


def local(element: Element) -> str:
    """Return an element's name without its namespace, which differs between editions of a format."""
    return element.tag.rsplit("}", 1)[-1]


def attribute(element: Element, name: str, default: str = "") -> str:
    """Return an attribute by its name without namespace."""
    for key, value in element.attrib.items():
        if key.rsplit("}", 1)[-1] == name:
            return value
    return default


def children(element: Element | None) -> Iterable[Element]:
    """Return the children of an element, none of none. An element without children counts as false, so ask here."""
    return () if element is None else element


def child(element: Element, *path: str) -> Element | None:
    """Return the first descendant down a path of names."""
    for name in path:
        found = next((one for one in element if local(one) == name), None)
        if found is None:
            return None
        element = found
    return element


def descendants(element: Element, name: str) -> Iterator[Element]:
    """Yield all elements of a name inside another one."""
    return (one for one in element.iter() if local(one) == name)


BROKEN_ZIP = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    RuntimeError,
    ValueError,
    LookupError,
)
"""What the library raises on archives that are no such, or are damaged."""


class Package:
    """An open office file. `warnings` tells which of its lesser parts could not be read."""

    def __init__(self, source: Source, data: bytes) -> None:
        """Open the package.

        Raises:
            EncryptedDocument: If it is protected by a password.
            ExtractError: If it is no zip archive.
        """
        self.source = source
        self.warnings: list[str] = []
        if data.startswith(OLE):
            raise EncryptedDocument(
                f"{source.path} cannot be read: it is protected by a password",
                hint="Remove the password in the program that made the file.",
            )
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except BROKEN_ZIP as error:
            raise damaged(source, "its content does not follow its format") from error
        self._names = {name.lower(): name for name in self._zip.namelist()}

    def __enter__(self) -> Package:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._zip.close()

    def names(self) -> tuple[str, ...]:
        return tuple(self._names.values())

    def read(self, name: str) -> bytes | None:
        """Return a part, or None when there is none of that name.

        Raises:
            ExtractError: If it is too big or cannot be unpacked.
        """
        actual = self._names.get(name.lstrip("/").lower())
        if actual is None:
            return None
        try:
            with self._zip.open(actual) as handle:
                data = handle.read(MAX_PART_BYTES + 1)
        except BROKEN_ZIP as error:
            raise damaged(self.source, "a part of it cannot be unpacked") from error
        if len(data) > MAX_PART_BYTES:
            raise LimitExceeded(
                f"{self.source.path} unpacks to more than is allowed",
                hint="Check where the file comes from before opening it.",
            )
        return data

    def xml(self, name: str) -> Element | None:
        """Return a part as a tree, or None when there is none of that name.

        Raises:
            ExtractError: If it is no XML, or declares entities.
        """
        data = self.read(name)
        if not data or not data.strip():
            return None
        if b"<!ENTITY" in data or (b"<!DOCTYPE" in data[:2048] and b"[" in data[:2048].split(b"<!DOCTYPE")[1][:400]):
            raise UnsafeContent(
                f"{self.source.path} declares entities, which office files never do",
                hint="Check where the file comes from.",
            )
        try:
            return fromstring(data)
        except (ParseError, ValueError, LookupError) as error:
            raise damaged(self.source, "a part of it is not well-formed") from error

    def lesser(self, name: str) -> Element | None:
        """Return a part that a document can do without: a broken one is told in the warnings and counts as none."""
        try:
            return self.xml(name)
        except ExtractError as error:
            if isinstance(error, LimitExceeded | UnsafeContent):
                raise
            self.warnings.append(f"the part {name.lstrip('/')} is damaged and was left out")
            return None

    def relations(self, part: str) -> Mapping[str, tuple[str, str]]:
        """Return the targets that a part names: id to kind and path."""
        folder, name = posixpath.split(part)
        tree = self.lesser(f"{folder}/_rels/{name}.rels")
        found: dict[str, tuple[str, str]] = {}
        for one in children(tree):
            target = attribute(one, "Target")
            if attribute(one, "TargetMode") != "External":
                path = target.lstrip("/") if target.startswith("/") else posixpath.normpath(f"{folder}/{target}")
                found[attribute(one, "Id")] = (attribute(one, "Type").rsplit("/", 1)[-1], path)
        return found


class Facts:
    """What an office file says about itself."""

    def __init__(self, tree: Element | None) -> None:
        self._values: dict[str, str] = {}
        for one in tree.iter() if tree is not None else ():
            if value := (one.text or "").strip():
                self._values.setdefault(local(one), " ".join(value.split()))

    @classmethod
    def of(cls, package: Package) -> Facts:
        """Read the properties of an Office Open XML file."""
        return cls(package.lesser(_CORE))

    def get(self, *names: str) -> str | None:
        return next((self._values[name] for name in names if name in self._values), None)

    @property
    def date(self) -> str | None:
        return next(
            (date for name in ("created", "creation-date", "modified", "date") if (date := self._date(name))), None
        )

    def _date(self, name: str) -> str | None:
        return iso_date(self._values.get(name))

    def metadata(self) -> Metadata:
        names = (
            ("author", ("creator", "initial-creator")),
            ("subject", ("subject",)),
            ("keywords", ("keywords", "keyword")),
            ("description", ("description",)),
            ("category", ("category",)),
        )
        found = {name: value for name, keys in names if (value := self.get(*keys))}
        for name, keys in (("created", ("created", "creation-date")), ("modified", ("modified", "date"))):
            if date := next((date for key in keys if (date := self._date(key))), None):
                found[name] = date
        return Metadata(found)
