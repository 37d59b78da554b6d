"""Zip archives that are the same bytes on every machine: stored, in the given order, with one fixed time."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
TIME = (2025, 11, 30, 12, 0, 0)


def archive(members: Mapping[str, str]) -> bytes:
    """Return a zip of `members`. Not compressed, since the output of zlib depends on its version."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for name, text in members.items():
            entry = zipfile.ZipInfo(name, TIME)
            entry.create_system = 3
            entry.external_attr = 0o644 << 16
            file.writestr(entry, text.encode("utf-8"))
    return buffer.getvalue()


def content_types(defaults: Mapping[str, str], overrides: Mapping[str, str]) -> str:
    """Return `[Content_Types].xml` of an Office document."""
    parts = [f'<Default Extension="{name}" ContentType="{kind}"/>' for name, kind in defaults.items()]
    parts += [f'<Override PartName="{name}" ContentType="{kind}"/>' for name, kind in overrides.items()]
    space = "http://schemas.openxmlformats.org/package/2006/content-types"
    return f'{XML}<Types xmlns="{space}">{"".join(parts)}</Types>'


def relationships(targets: Mapping[str, tuple[str, str]]) -> str:
    """Return a `.rels` part: id → (type, target). A type without a scheme is one of Office's own."""
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
    parts = [
        f'<Relationship Id="{id_}" Type="{kind if "://" in kind else office + kind}" Target="{target}"/>'
        for id_, (kind, target) in targets.items()
    ]
    space = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'{XML}<Relationships xmlns="{space}">{"".join(parts)}</Relationships>'


def core_properties(*, title: str, creator: str, created: str) -> str:
    """Return `docProps/core.xml`: title, author and date."""
    return (
        f'{XML}<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties"'
        ' xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">'
        f"<dc:title>{title}</dc:title><dc:creator>{creator}</dc:creator><dc:language>en</dc:language>"
        f'<dcterms:created xsi:type="dcterms:W3CDTF">{created}</dcterms:created>'
        f'<dcterms:modified xsi:type="dcterms:W3CDTF">{created}</dcterms:modified></cp:coreProperties>'
    )


CORE_TYPE = "application/vnd.openxmlformats-package.core-properties+xml"
CORE_RELATION = "http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties"
RELS_TYPE = "application/vnd.openxmlformats-package.relationships+xml"
