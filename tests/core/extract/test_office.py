"""Office files: every letter, whole words, tables by row, notes and comments, nothing deleted."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from lilbee_core.errors import EncryptedDocument, ExtractError, LimitExceeded, NoText, UnsafeContent
from lilbee_core.extract._context import FileContext
from lilbee_core.extract._docx import DocxExtractor
from lilbee_core.extract._odf import OdfExtractor
from lilbee_core.extract._pptx import PptxExtractor
from lilbee_core.extract._sheets import SheetExtractor
from lilbee_core.plugins.specs import MemberLimits
from lilbee_core.protocols import Extractor
from lilbee_core.types import Document, Source
from tests.core.extract._files import docx, odf, paragraph, pptx, relations, shape, xlsx, zipped
from tests.core.extract.conftest import Read

ReadDocument = Callable[..., Document]


def headings(document: Document) -> list[tuple[int, str]]:
    for heading in document.headings:
        assert document.text[heading.start :].startswith(heading.title.split()[0])
    return [(heading.level, heading.title) for heading in document.headings]


# --------------------------------------------------------------------------- Word


def test_docx_keeps_signs_and_joins_runs(document: ReadDocument) -> None:
    body = (
        paragraph("Terms & Conditions for <small> boats, 5 > 3")
        + '<w:p><w:r><w:t>S</w:t></w:r><w:r><w:rPr><w:b/></w:rPr><w:t>ome</w:t></w:r><w:r><w:t xml:space="preserve">'
        " info</w:t></w:r></w:p>"
    )
    assert document("a.docx", docx(body)).text == "Terms & Conditions for <small> boats, 5 > 3\n\nSome info"


def test_docx_leaves_out_what_was_deleted_or_hidden(document: ReadDocument) -> None:
    body = (
        "<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t></w:r></w:ins>"
        "<w:moveFrom><w:r><w:t>moved away</w:t></w:r></w:moveFrom></w:p>"
        "<w:p><w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"
        '<w:r><w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t></w:r></w:p>'
        "<w:p><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>"
    )
    assert document("a.docx", docx(body)).text == "new\n\nshown\n\n7"


def test_docx_headings_come_from_styles(document: ReadDocument) -> None:
    styles = (
        '<w:style w:styleId="t"><w:name w:val="Title"/></w:style>'
        '<w:style w:styleId="h1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="mine"><w:name w:val="Mine"/><w:basedOn w:val="h1"/></w:style>'
        '<w:style w:styleId="o"><w:name w:val="Other"/><w:pPr><w:outlineLvl w:val="2"/></w:pPr></w:style>'
    )
    body = (
        paragraph("The Title", '<w:pStyle w:val="t"/>')
        + paragraph("One", '<w:pStyle w:val="h1"/>')
        + paragraph("text")
        + paragraph("Two", '<w:pStyle w:val="mine"/>')
        + paragraph("Three", '<w:pStyle w:val="o"/>')
        + paragraph("Four", '<w:outlineLvl w:val="1"/>')
        + paragraph("not one", '<w:pStyle w:val="h1"/><w:outlineLvl w:val="9"/>')
    )
    found = document("a.docx", docx(body, styles=styles))
    assert headings(found) == [(1, "The Title"), (1, "One"), (1, "Two"), (3, "Three"), (2, "Four")]
    assert (found.title, found.date, found.metadata["author"]) == ("The Title", "2024-05-01T10:00:00+00:00", "Ada")


def test_docx_numbers_paragraphs_as_word_does(document: ReadDocument) -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:start w:val="3"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="%1.%2)"/></w:lvl>'
        '<w:lvl w:ilvl="2"><w:numFmt w:val="upperRoman"/><w:lvlText w:val="%3"/></w:lvl>'
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="5">{levels}</w:abstractNum>'
        '<w:abstractNum w:abstractNumId="6"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="x"/></w:lvl>'
        '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num>'
        '<w:num w:numId="2"><w:abstractNumId w:val="6"/></w:num>'
    )

    def item(text: str, number: int, level: int) -> str:
        return paragraph(text, f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')

    body = item("a", 1, 0) + item("b", 1, 1) + item("c", 1, 1) + item("d", 1, 2) + item("e", 1, 0) + item("f", 1, 1)
    text = document("a.docx", docx(body + item("g", 2, 0), numbering=numbering)).text
    assert text == "3. a\n  3.a) b\n  3.b) c\n    I d\n4. e\n  4.a) f\n- g"


def test_docx_list_styles_are_as_deep_as_their_names_and_indents_say(document: ReadDocument) -> None:
    def style(name: str, number: int, place: str = "") -> str:
        numbered = f'<w:numPr><w:numId w:val="{number}"/></w:numPr>'
        key = name.replace(" ", "")
        return f'<w:style w:styleId="{key}"><w:name w:val="{name}"/><w:pPr>{numbered}{place}</w:pPr></w:style>'

    def level(form: str, text: str, more: str = "") -> str:
        return f'<w:lvl w:ilvl="0"><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'

    def indent(left: int) -> str:
        return f'<w:ind w:left="{left}"/>'

    lists = {
        1: level("bullet", "o"),
        2: level("decimal", "%1."),
        3: level("bullet", "o", f"<w:pPr>{indent(360)}</w:pPr>"),
        4: level("bullet", "o", f"<w:pPr>{indent(720)}</w:pPr>"),
    }
    numbering = "".join(
        f'<w:abstractNum w:abstractNumId="{n}">{inner}</w:abstractNum>'
        f'<w:num w:numId="{n}"><w:abstractNumId w:val="{n}"/></w:num>'
        for n, inner in lists.items()
    )
    styles = (
        style("List Bullet", 1) + style("List Bullet 2", 1) + style("List Bullet 3", 1) + style("List Number 2", 2)
        + style("Mine", 3) + style("Mine Deeper", 4) + style("Mine Deepest", 4, indent(1440))
    )  # fmt: skip
    names = ["ListBullet", "ListBullet2", "ListBullet3", "ListNumber2", "ListNumber2", "ListBullet"]
    names += ["Mine", "MineDeeper", "MineDeepest", "MineDeeper", "Mine"]
    body = "".join(paragraph(f"i{n}", f'<w:pStyle w:val="{name}"/>') for n, name in enumerate(names))
    assert document("a.docx", docx(body, styles=styles, numbering=numbering)).text == (
        "- i0\n  - i1\n    - i2\n  1. i3\n  2. i4\n- i5\n- i6\n  - i7\n    - i8\n  - i9\n- i10"
    )


def test_docx_lists_by_reference_restart_and_follow_their_styles(document: ReadDocument) -> None:
    levels = (
        '<w:lvl w:ilvl="0"><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>'
        '<w:lvl w:ilvl="1"><w:numFmt w:val="lowerLetter"/><w:pStyle w:val="sub"/><w:lvlText w:val="%2)"/></w:lvl>'
    )
    numbering = (
        '<w:abstractNum w:abstractNumId="1"><w:numStyleLink w:val="Steps"/></w:abstractNum>'
        f'<w:abstractNum w:abstractNumId="2"><w:styleLink w:val="Steps"/>{levels}</w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/>'
        '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    )
    styles = (
        '<w:style w:styleId="sub"><w:name w:val="sub"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>'
    )

    def item(text: str, number: int) -> str:
        return paragraph(text, f'<w:numPr><w:numId w:val="{number}"/></w:numPr>')

    body = item("a", 1) + paragraph("b", '<w:pStyle w:val="sub"/>') + item("c", 1) + paragraph("gap")
    body += item("d", 2) + item("e", 2)
    text = document("a.docx", docx(body, styles=styles, numbering=numbering)).text
    assert text == "1. a\n  a) b\n2. c\n\ngap\n\n1. d\n2. e"


def test_docx_tables_keep_rows_together(document: ReadDocument) -> None:
    def cell(*texts: str) -> str:
        return f"<w:tc>{''.join(map(paragraph, texts))}</w:tc>"

    body = (
        f"<w:tbl><w:tr>{cell('Berth')}{cell('Fee')}</w:tr><w:tr>{cell('Ful', 'mar')}{cell('65')}</w:tr></w:tbl>"
        f"<w:tbl><w:tr>{cell('x' * 400)}{cell('side')}</w:tr></w:tbl>"
    )
    assert document("a.docx", docx(body)).text == f"Berth | Fee\nFul mar | 65\n\n{'x' * 400}\n\nside"


def test_docx_notes_comments_and_margins_are_parts_of_their_own(document: ReadDocument) -> None:
    body = '<w:p><w:r><w:t>Checked</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    found = document(
        "a.docx",
        docx(
            body,
            footnotes=f'<w:footnote w:id="0">{paragraph("line")}</w:footnote><w:footnote w:id="2">{paragraph("daily")}'
            "</w:footnote>",
            comments=f'<w:comment w:id="0" w:author="Jo">{paragraph("really?")}</w:comment>',
            header=paragraph("Doc no. HB-2207") + paragraph("3"),
        ),
    )
    assert found.text == "Checked[1]\n\n[1] daily\n\nComment by Jo: really?\n\nDoc no. HB-2207"
    parts = {segment.label: segment.span.cut(found.text) for segment in found.segments}
    assert parts == {
        "footnotes": "[1] daily",
        "comments": "Comment by Jo: really?",
        "header and footer": "Doc no. HB-2207",
    }


def test_docx_text_boxes_are_read_once(document: ReadDocument) -> None:
    box = f"<wps:txbx><w:txbxContent>{paragraph('in the box')}</w:txbxContent></wps:txbx>"
    body = (
        f"<w:p><w:r><w:t>around</w:t></w:r><w:r><mc:AlternateContent><mc:Choice>{box}</mc:Choice>"
        f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r></w:p>"
    )
    assert document("a.docx", docx(body)).text == "around\n\nin the box"


def test_docx_formulas_stand_in_their_line(document: ReadDocument) -> None:
    power = "<m:sSup><m:e><m:r><m:t>mc</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup>"
    half = "<m:f><m:num><m:r><m:t>a+b</m:t></m:r></m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f>"
    root = "<m:rad><m:deg/><m:e><m:r><m:t>x</m:t></m:r></m:e></m:rad>"
    body = f"<w:p><w:r><w:t>So E=</w:t></w:r><m:oMath>{power}</m:oMath><m:oMath>;{half};{root}</m:oMath></w:p>"
    assert document("a.docx", docx(body)).text == "So E=mc^2(a+b)/2√x"


def test_files_that_are_no_package_are_damaged(read: Read) -> None:
    for name in ("a.docx", "a.pptx", "a.odt", "a.epub"):
        error = read(name, b"PK\x03\x04 and then nothing")
        assert isinstance(error, ExtractError)
        assert error.code == "extract.damaged"
        assert "is damaged" in error.message


def test_packages_without_their_main_part_are_damaged(read: Read) -> None:
    for name in ("a.docx", "a.pptx", "a.odt", "a.epub"):
        error = read(name, zipped({"[Content_Types].xml": "<Types/>"}))
        assert isinstance(error, ExtractError)
        assert error.code == "extract.damaged"


def test_protected_files_say_so(read: Read) -> None:
    ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512)
    assert isinstance(read("a.docx", ole), EncryptedDocument)
    manifest = '<m xmlns:x="urn:x"><x:file-entry><x:encryption-data/></x:file-entry></m>'
    error = read("a.odt", odf("<text:p>x</text:p>", **{"META-INF/manifest.xml": manifest}))
    assert isinstance(error, EncryptedDocument)


def test_empty_documents_hold_no_text(read: Read) -> None:
    assert isinstance(read("a.docx", docx("<w:p/>")), NoText)
    assert isinstance(read("a.pptx", pptx([shape("")])), NoText)
    assert isinstance(read("a.odt", odf("<text:p/>", styles="")), NoText)


def test_entities_are_refused(read: Read) -> None:
    bomb = '<!DOCTYPE w [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;">]><w:document><w:body>&b;</w:body></w:document>'
    parts = {"_rels/.rels": relations({"a": ("officeDocument", "word/document.xml")}), "word/document.xml": bomb}
    assert isinstance(read("a.docx", zipped(parts)), UnsafeContent)


@pytest.mark.parametrize(
    ("extractor", "name", "data"),
    [
        (DocxExtractor, "a.docx", docx(paragraph("x" * 2_000_000))),
        (PptxExtractor, "a.pptx", pptx([shape("x" * 2_000_000)])),
        (OdfExtractor, "a.odt", odf(f"<text:p>{'x' * 2_000_000}</text:p>")),
        (SheetExtractor, "a.xlsx", xlsx({"S": [["x" * 2_000_000]]})),
        (SheetExtractor, "a.ods", odf(f"<table:table>{'x' * 2_000_000}</table:table>", kind="spreadsheet")),
    ],
)
def test_parts_that_unpack_to_too_much_are_refused_by_limit_and_setting(
    extractor: Callable[..., Extractor], name: str, data: bytes
) -> None:
    source = Source(collection="c", path=name, media_type="application/x", data=data, size=len(data))
    with pytest.raises(LimitExceeded, match=r"unpacks to more than the limit of 1 MB") as refusal:
        extractor(limits=MemberLimits(member_bytes=1_000_000)).extract(source, FileContext(max_chars=10**9))
    assert "archive_max_member_mb" in (refusal.value.hint or "")


def test_texts_beyond_the_limit_are_refused(read: Read) -> None:
    assert isinstance(read("a.docx", docx(paragraph("long " * 100)), max_chars=50), LimitExceeded)


# --------------------------------------------------------------------------- presentations


def test_pptx_slides_are_segments_with_their_titles_first(document: ReadDocument) -> None:
    found = document(
        "a.pptx",
        pptx([shape("S", "ome info") + shape("Plan", kind="ctrTitle"), shape("Second", kind="title") + shape("body")]),
    )
    assert found.text == "Plan\n\nSome info\n\nSecond\n\nbody"
    assert headings(found) == [(1, "Plan"), (1, "Second")]
    assert [(one.page, one.label, one.span.cut(found.text)) for one in found.segments] == [
        (1, "slide 1", "Plan\n\nSome info"),
        (2, "slide 2", "Second\n\nbody"),
    ]
    assert found.title == "Plan"


def test_pptx_tables_groups_notes_and_comments_are_read(document: ReadDocument) -> None:
    def cell(text: str) -> str:
        return f"<a:tc><a:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></a:txBody></a:tc>"

    rows = f"<a:tr>{cell('a')}{cell('b')}</a:tr><a:tr>{cell('1')}{cell('')}</a:tr>"
    slide = f"<p:graphicFrame><a:tbl>{rows}</a:tbl></p:graphicFrame><p:grpSp>{shape('grouped')}</p:grpSp>" + shape(
        "9", kind="sldNum"
    )
    notes = f"<p:cSld><p:spTree>{shape('say this', kind='body')}{shape('3', kind='sldNum')}</p:spTree></p:cSld>"
    found = document("a.pptx", pptx([slide], notesSlide=notes, comments="<p:cm><p:text>why?</p:text></p:cm>"))
    assert found.text == "a | b\n1 | \n\ngrouped\n\nNotes: say this\n\nComment: why?"


def test_pptx_charts_and_diagrams_give_their_words(document: ReadDocument) -> None:
    def points(name: str, *values: str) -> str:
        return (
            f"<c:{name}><c:cache>{''.join(f'<c:pt><c:v>{value}</c:v></c:pt>' for value in values)}</c:cache></c:{name}>"
        )

    series = f"<c:ser>{points('tx', 'Ducks')}{points('cat', '2019', '2020')}{points('val', '120', '130')}</c:ser>"
    title = "<c:title><c:tx><c:rich><a:p><a:r><a:t>By year</a:t></a:r></a:p></c:rich></c:tx></c:title>"
    chart = f'<c:space xmlns:c="urn:c" xmlns:a="urn:a"><c:chart>{title}{series}</c:chart></c:space>'
    data = '<d:data xmlns:d="urn:d" xmlns:a="urn:a"><d:t><a:p><a:r><a:t>Step</a:t></a:r></a:p></d:t><d:t/></d:data>'
    frame = (
        '<p:graphicFrame xmlns:c="urn:c" xmlns:d="urn:d"><c:chart r:id="chart"/><d:relIds r:dm="diagramData"/>'
        "</p:graphicFrame>"
    )
    whole = pptx([frame], chart="", diagramData="")
    parts = {
        name: zipfile.ZipFile(io.BytesIO(whole)).read(name) for name in zipfile.ZipFile(io.BytesIO(whole)).namelist()
    }
    found = document("a.pptx", zipped({**parts, "ppt/chart.xml": chart, "ppt/diagramData.xml": data}))
    assert found.text == "By year\n\nDucks (2019: 120; 2020: 130)\nStep"


def test_pptx_broken_lesser_parts_are_told(document: ReadDocument) -> None:
    found = document("a.pptx", pptx([shape("words")], comments="<p:cm>"))
    assert found.text == "words"
    assert found.warnings == ("the part ppt/comments.xml is damaged and was left out",)


@pytest.mark.parametrize(
    ("formula", "text"),
    [
        (
            "<m:nary><m:naryPr><m:chr val='∑'/></m:naryPr><m:sub>{i}</m:sub><m:sup>{n}</m:sup><m:e>{x}</m:e></m:nary>",
            "∑_i^n x",
        ),
        ("<m:d><m:dPr><m:begChr w:val='['/><m:endChr w:val=']'/></m:dPr><m:e>{x}</m:e><m:e>{n}</m:e></m:d>", "[x, n]"),
        ("<m:d><m:e>{x}</m:e></m:d>", "(x)"),
        ("<m:limLow><m:e>{x}</m:e><m:lim>{n}</m:lim></m:limLow>", "x_n"),
        ("<m:sSubSup><m:e>{x}</m:e><m:sub>{i}</m:sub><m:sup>{n}</m:sup></m:sSubSup>", "x_i^n"),
        ("<m:func><m:fName>{i}</m:fName><m:e>{x}</m:e></m:func>", "ix"),
    ],
)
def test_formulas_are_written_on_one_line(formula: str, text: str, document: ReadDocument) -> None:
    letters = {name: f"<m:r><m:t>{name}</m:t></m:r>" for name in "xin"}
    body = f"<w:p><m:oMath>{formula.format(**letters)}</m:oMath></w:p>"
    assert document("a.docx", docx(body)).text == text


def test_docx_inserted_blocks_and_controls_are_read(document: ReadDocument) -> None:
    control = f"<w:sdt><w:sdtContent><w:tc>{paragraph('a')}</w:tc></w:sdtContent></w:sdt>"
    row = f"<w:tr>{control}<w:tc>{paragraph('b')}</w:tc></w:tr>"
    body = (
        f"<w:sdt><w:sdtContent>{paragraph('control')}</w:sdtContent></w:sdt><w:tbl><w:ins>{row}</w:ins></w:tbl>"
        '<w:p><w:r><w:t>x</w:t><w:tab/><w:t>y</w:t><w:br/><w:noBreakHyphen/><w:sym w:char="F0B7"/><w:sym w:char="zz"/>'
        '<w:sym w:char="2192"/></w:r></w:p>'
    )
    assert document("a.docx", docx(body)).text == "control\n\na | b\n\nx\ty\n-→"


# --------------------------------------------------------------------------- OpenDocument


def test_odt_lists_have_their_numbers(document: ReadDocument) -> None:
    def level(depth: int, form: str, more: str = "") -> str:
        return f'<text:list-level-style-number text:level="{depth}" style:num-format="{form}" {more}/>'

    def item(text: str, inner: str = "", more: str = "") -> str:
        return f"<text:list-item {more}><text:p>{text}</text:p>{inner}</text:list-item>"

    def listed(inner: str, more: str = 'text:style-name="L"') -> str:
        return f"<text:list {more}>{inner}</text:list>"

    style = (
        '<text:list-style style:name="L">'
        + level(1, "1", 'style:num-suffix="."')
        + level(2, "a", 'style:num-prefix="(" style:num-suffix=")" text:display-levels="2"')
        + '<text:list-level-style-bullet text:level="3"/></text:list-style>'
    )
    nested = listed(item("b", listed(item("c"), "")) + item("d"), "")
    body = (
        listed(item("a", nested) + item("e", listed(item("f"), "")) + item("g", more='text:start-value="7"'))
        + "<text:p>gap</text:p>"
        + listed(item("h"), 'text:style-name="L" text:continue-numbering="true"')
        + listed(item("i"))
        + listed(item("j"), "")
    )
    book = odf(body, styles=f'<office:automatic-styles xmlns:style="urn:s">{style}</office:automatic-styles>')
    assert document("a.odt", book).text == (
        "1. a\n  (1.a) b\n    - c\n  (1.b) d\n2. e\n  (2.a) f\n7. g\n\ngap\n\n8. h\n1. i\n- j"
    )


def test_odt_comments_margins_and_layout_tables(document: ReadDocument) -> None:
    body = (
        "<text:p>Text<office:annotation><dc:creator xmlns:dc='urn:dc'>Jo</dc:creator><text:p>really?</text:p>"
        "</office:annotation><text:tab/>more<text:line-break/>end</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>alone</text:p></table:table-cell></table:table-row>"
        "</table:table><draw:frame><draw:text-box><text:p>boxed</text:p></draw:text-box></draw:frame>"
    )
    header, footer = (
        "<text:header><text:p>Doc no. 7</text:p></text:header>",
        "<text:footer><text:p>3</text:p></text:footer>",
    )
    styles = f"<office:master>{header}{footer}</office:master>"
    found = document("a.odt", odf(body, styles=styles))
    assert found.text == "Text\tmore\nend\n\nalone\n\nboxed\n\nComment by Jo: really?\n\nDoc no. 7"
    assert [one.label for one in found.segments] == ["comments", "header and footer"]


def test_odt_text_lists_tables_and_notes(document: ReadDocument) -> None:
    body = (
        '<text:h text:outline-level="2">Head</text:h>'
        "<text:p>L<text:span>orem</text:span><text:s text:c='2'/>R&amp;D<text:note><text:note-body><text:p>why"
        "</text:p></text:note-body></text:note></text:p>"
        "<text:list><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>inner</text:p>"
        "</text:list-item></text:list></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell table:number-columns-repeated='2'><text:p>b</text:p></table:table-cell></table:table-row>"
        "</table:table><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>"
    )
    found = document("a.odt", odf(body))
    assert found.text == "Head\n\nLorem  R&D[1]\n\n- one\n  - inner\na | b | b\n\n[1] why"
    assert headings(found) == [(2, "Head")]
    assert (found.title, found.date) == ("Log", "2024-05-01T10:00:00")


def test_odp_slides_are_segments(document: ReadDocument) -> None:
    def frame(kind: str, text: str) -> str:
        inner = f"<draw:text-box><text:p>{text}</text:p></draw:text-box>"
        return f'<draw:frame presentation:class="{kind}">{inner}</draw:frame>'

    body = (
        f"<draw:page>{frame('outline', 'point')}{frame('title', 'First')}<presentation:notes>{frame('notes', 'aside')}"
        f"</presentation:notes></draw:page><draw:page>{frame('subtitle', 'next')}</draw:page>"
    )
    found = document("a.odp", odf(body, kind="presentation"))
    assert found.text == "First\n\npoint\n\nNotes: aside\n\nnext"
    assert [(one.page, one.label) for one in found.segments] == [(1, "slide 1"), (2, "slide 2")]
    assert headings(found) == [(1, "First")]
