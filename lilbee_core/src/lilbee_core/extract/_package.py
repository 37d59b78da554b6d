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
from xml.etree.ElementTree import Element, ParseError, fromstring, iterparse

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, UnsafeContent
from lilbee_core.extract._dates import iso_date
from lilbee_core.extract._reading import damaged
from lilbee_core.extract._unlock import OLE
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.types import Metadata, Source

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

    def __init__(self, source: Source, data: bytes, limits: MemberLimits | None = None) -> None:
        """Open the package. Of its `limits`, the size of one part counts.

        Raises:
            EncryptedDocument: If it is protected by a password.
            ExtractError: If it is no zip archive.
        """
        self.source = source
        self.warnings: list[str] = []
        self._most = (limits or MemberLimits()).member_bytes
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
                data = handle.read(self._most + 1)
        except BROKEN_ZIP as error:
            raise damaged(self.source, "a part of it cannot be unpacked") from error
        if len(data) > self._most:
            raise LimitExceeded(
                f"{self.source.path} has a part, {actual}, that unpacks to more than the limit of "
                f"{self._most // 1_000_000} MB",
                hint="Raise archive_max_member_mb, or split the file.",
            )
        return data

    def xml(self, name: str) -> Element | None:
        """Return a part as a tree, or None when there is none of that name.

        Raises:
            ExtractError: If it is no XML, or declares entities.
        """
        data = self._safe(name)
        if data is None:
            return None
        try:
            return fromstring(data)
        except (ParseError, ValueError, LookupError) as error:
            raise damaged(self.source, "a part of it is not well-formed") from error

    def elements(self, name: str, *wanted: str) -> Iterator[Element]:
        """Yield the wanted elements of a part as they end, so that it is never held as a whole.

        Raises:
            ExtractError: If it is no XML, or declares entities.
        """
        data = self._safe(name)
        if data is None:
            return
        known: dict[str, bool] = {}
        try:
            for _, one in iterparse(io.BytesIO(data)):
                asked = known.get(one.tag)
                if asked is None:
                    asked = known.setdefault(one.tag, local(one) in wanted)
                if asked:
                    yield one
                    one.clear()
        except (ParseError, ValueError, LookupError) as error:
            raise damaged(self.source, "a part of it is not well-formed") from error

    def _safe(self, name: str) -> bytes | None:
        """Return a part that declares no entities, or None when it is missing or empty.

        Raises:
            ExtractError: If it is too big, cannot be unpacked or declares entities.
        """
        data = self.read(name)
        if not data or not data.strip():
            return None
        if b"<!ENTITY" in data or (b"<!DOCTYPE" in data[:2048] and b"[" in data[:2048].split(b"<!DOCTYPE")[1][:400]):
            raise UnsafeContent(
                f"{self.source.path} declares entities, which office files never do",
                hint="Check where the file comes from.",
            )
        return data

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

    @classmethod
    def known(cls, values: Mapping[str, str]) -> Facts:
        """Return facts that were read elsewhere, under the names that files of today give them."""
        facts = cls(None)
        facts._values.update(values)
        return facts

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
