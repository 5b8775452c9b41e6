"""Files that are containers: the made contents in archives, books, PDFs and notebooks."""

import io
import json
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

_FORMATS = "http://schemas.openxmlformats.org"
_OFFICE = f"{_FORMATS}/officeDocument/2006"
_NAMES = {
    "a": f"{_FORMATS}/drawingml/2006/main",
    "c": f"{_FORMATS}/drawingml/2006/chart",
    "m": f"{_OFFICE}/math",
    "mc": f"{_FORMATS}/markup-compatibility/2006",
    "p": f"{_FORMATS}/presentationml/2006/main",
    "r": f"{_OFFICE}/relationships",
    "w": f"{_FORMATS}/wordprocessingml/2006/main",
}
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_ODF_NAMES = {
    "office": f"{_OASIS}:office:1.0",
    "text": f"{_OASIS}:text:1.0",
    "table": f"{_OASIS}:table:1.0",
    "draw": f"{_OASIS}:drawing:1.0",
    "style": f"{_OASIS}:style:1.0",
    "xlink": "http://www.w3.org/1999/xlink",
}
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def packed(suffix: str, content: str, random: Random) -> bytes:
    """A file of a format with this content; text formats hold it as it is."""
    pack = _PACKERS.get(suffix)
    return pack(content, random) if pack else content.encode("utf-8", "surrogatepass")


def _named(names: Mapping[str, str]) -> str:
    return " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in names.items())


def _zip(members: Mapping[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content.encode("utf-8", "replace"))
    return stream.getvalue()


def _relations(*targets: tuple[str, str]) -> str:
    listed = "".join(
        f'<Relationship Id="s{at}" Type="{_OFFICE}/relationships/{kind}" Target="{target}"/>'
        for at, (kind, target) in enumerate(targets)
    )
    names = f"{_FORMATS}/package/2006/relationships"
    return f'<Relationships xmlns="{names}">{listed}</Relationships>'


def _docx(content: str, _: Random) -> bytes:
    names, styled = _named(_NAMES), content.replace("<w:p>", '<w:style w:styleId="S">')
    note = f'<w:footnotes {names}><w:footnote w:id="1">{content}</w:footnote></w:footnotes>'
    styles = styled.replace("</w:p>", "</w:style>")
    return _zip({
        "_rels/.rels": _relations(("officeDocument", "word/document.xml")),
        "word/_rels/document.xml.rels": _relations(
            ("footnotes", "footnotes.xml"), ("styles", "styles.xml")
        ),
        "word/footnotes.xml": note if len(content) < 20_000 else f"<w:footnotes {names}/>",
        "word/styles.xml": f"<w:styles {names}>{styles[:1] and styles}</w:styles>",
        "word/document.xml": f"<w:document {names}><w:body>{content}</w:body></w:document>",
    })  # fmt: skip


def _pptx(content: str, random: Random) -> bytes:
    names, count = _named(_NAMES), random.choice([1, 1, 20, 500])
    listed = "".join(f'<p:sldId r:id="s{at}"/>' for at in range(count))
    tree = f"<p:sld {names}><p:cSld><p:spTree>{content}</p:spTree></p:cSld></p:sld>"
    targets = [("slide", "slides/s0.xml")] * count
    return _zip({
        "_rels/.rels": _relations(("officeDocument", "ppt/presentation.xml")),
        "ppt/presentation.xml": f"<p:presentation {names}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": _relations(*targets),
        "ppt/slides/s0.xml": tree,
        "ppt/slides/_rels/s0.xml.rels": _relations(("chart", "s0.xml"), ("slide", "s0.xml")),
    })  # fmt: skip


def _xlsx(content: str, random: Random) -> bytes:
    names = f'xmlns="{_FORMATS}/spreadsheetml/2006/main" xmlns:r="{_OFFICE}/relationships"'
    merged = "".join(
        f'<mergeCell ref="A{at}:{random.choice(["B2", "XFD1048576", "ZZ99"])}"/>'
        for at in range(random.choice([0, 1, 500]))
    )
    codes = "".join(
        f'<numFmt numFmtId="{at + 200}" formatCode="{code}"/>'
        for at, code in enumerate(random.sample(["0" * 99, "[$-1]#", "yy;;", "# ?/?"], 3))
    )
    styles = "".join(f'<xf numFmtId="{at + 200}"/>' for at in range(3))
    return _zip({
        "_rels/.rels": _relations(("officeDocument", "xl/workbook.xml")),
        "xl/workbook.xml": f'<workbook {names}><sheets><sheet name="One" r:id="s0"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": _relations(
            ("worksheet", "sheet.xml"), ("sharedStrings", "texts.xml"), ("styles", "styles.xml")
        ),
        "xl/sheet.xml": f"<worksheet {names}><sheetData>{content}</sheetData>"
        f"<mergeCells>{merged}</mergeCells></worksheet>",
        "xl/texts.xml": f"<sst {names}><si><t>{'long ' * random.choice([1, 2000])}</t></si></sst>",
        "xl/styles.xml": f"<styleSheet {names}><numFmts>{codes}</numFmts>"
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    })  # fmt: skip


def _odt(content: str, random: Random) -> bytes:
    kind = random.choice(["text", "spreadsheet", "presentation"])
    chain = "".join(
        f'<style:style style:name="S{at}" style:parent-style-name="S{at + 1}"/>'
        for at in range(random.choice([0, 2, 200]))
    )
    return _zip({
        "mimetype": f"application/vnd.oasis.opendocument.{kind}",
        "content.xml": f"<office:document-content {_named(_ODF_NAMES)}><office:automatic-styles>"
        f"{chain}</office:automatic-styles><office:body><office:{kind}>{content}</office:{kind}>"
        "</office:body></office:document-content>",
    })  # fmt: skip


def _epub(content: str, random: Random) -> bytes:
    count = random.choice([1, 1, 50, 500])
    items = "".join(
        f'<item id="i{at}" href="c{at % 50}.xhtml" media-type="application/xhtml+xml"/>'
        for at in range(count)
    )
    order = "".join(f'<itemref idref="i{at}"/>' for at in range(count))
    head = "<html xmlns='http://www.w3.org/1999/xhtml'><body>"
    links = "".join(f'<li><a href="c{at}.xhtml#x">x</a></li>' for at in range(count))
    return _zip({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container><rootfile full-path="o.opf"/></container>',
        "o.opf": f'<package><manifest>{items}<item id="n" href="n.xhtml" properties="nav" '
        f'media-type="application/xhtml+xml"/></manifest><spine>{order}</spine></package>',
        "n.xhtml": f"{head}<nav><ol>{links}</ol></nav></body></html>",
        **{f"c{at}.xhtml": f"{head}{content}</body></html>" for at in range(min(count, 3))},
    })  # fmt: skip


def _ipynb(content: str, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    count = random.choice([1, 1, 10, len(lines) or 1])
    share = len(lines) // count + 1
    cells = []
    for at in range(0, len(lines), share):
        source = lines[at : at + share]
        output = {"output_type": "display_data", "data": {"text/html": source}, "metadata": {}}
        code = {"cell_type": "code", "outputs": [output], "execution_count": 1}
        kind = code if random.random() < 0.3 else {"cell_type": "markdown"}
        cells.append({"source": source, "metadata": {}} | kind)
    book = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(book).encode()


def _pdf(content: str, random: Random) -> bytes:
    """A PDF of one to some pages; forms, kids, fonts, tags and bookmarks may lead in a circle."""
    count = random.choice([1, 1, 3, 40])
    drawn = content.encode("latin-1", "replace")
    kids = b" ".join(b"%d 0 R" % random.choice([4, 4, 9]) for _ in range(count))
    form = b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources 10 0 R"
    letters = b"".join(b"<%04x> <%04x> <0041>\n" % (at, at + 9) for at in range(count))
    objects = {
        1: b"<< /Type /Catalog /Pages 2 0 R /Outlines 7 0 R /StructTreeRoot 8 0 R >>",
        2: b"<< /Type /Pages /Kids [%s] /Count %d >>" % (kids, count),
        3: random.choice([
            _FONT,
            _FONT[:-2] + b"/FirstChar 0 /LastChar %d /Widths [%s] >>" % (count, b"9 " * count),
            _FONT[:-2] + b"/ToUnicode 11 0 R >>",
        ]),
        4: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents [%s] /Resources 10 0 R"
        b" >>" % (b"5 0 R " * random.choice([1, 1, 5])),
        5: _stream(drawn),
        6: _stream(random.choice([drawn[:2000], b"/Y Do /Y Do", b"/X Do /Y Do"]), form),
        7: b"<< /First 12 0 R /Last 12 0 R >>",
        8: b"<< /Type /StructTreeRoot /K [%s] >>" % (b"13 0 R " * random.choice([1, 50])),
        9: b"<< /Type /Pages /Parent 2 0 R /Kids [%s] /Count 1 >>"
        % random.choice([b"4 0 R", b"2 0 R", b"4 0 R " * 50]),
        10: b"<< /Font << /F1 3 0 R >> /XObject << /X 6 0 R /Y %d 0 R >> >>"
        % random.choice([6, 14]),
        11: _stream(b"%d beginbfrange\n%sendbfrange\n" % (count, letters)),
        12: b"<< /Title (A) /Dest [4 0 R /Fit] /Next %d 0 R >>" % random.choice([12, 99]),
        13: b"<< /S /H1 /P 8 0 R /K [%d 0 R] >>" % random.choice([13, 8, 99]),
        14: _stream(b"BT /F1 9 Tf (form) Tj ET ", form),
    }  # fmt: skip
    return _numbered(objects)


def _stream(content: bytes, entries: bytes = b"") -> bytes:
    data = zlib.compress(content)
    head = b"<< /Length %d /Filter /FlateDecode %s >>" % (len(data), entries)
    return head + b"\nstream\n" + data + b"\nendstream"


def _numbered(objects: Mapping[int, bytes]) -> bytes:
    data, places = bytearray(b"%PDF-1.7\n"), []
    for number, content in objects.items():
        places.append(len(data))
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start, size = len(data), len(places) + 1
    data += b"xref\n0 %d\n0000000000 65535 f \n" % size
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(data)


def _members(content: str) -> dict[str, str]:
    """Names and contents of an upload: many small files, nested folders, equal names."""
    lines = content.split("\n")
    return {f"{'d/' * (at % 50)}{line[:40]}{at}.md": line for at, line in enumerate(lines)}


def _archive(content: str, _: Random) -> bytes:
    return _zip(_members(content))


def _tar(content: str, random: Random) -> bytes:
    stream = io.BytesIO()
    mode: Any = random.choice(["w", "w:gz", "w:xz", "w:bz2"])
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for name, text in _members(content).items():
            data = text.encode("utf-8", "replace")
            info = tarfile.TarInfo(name.replace("\0", "0").encode("utf-8", "replace").decode())
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return stream.getvalue()


def _inventory(content: str, _: Random) -> bytes:
    head = b"# Sphinx inventory version 2\n# Project: x\n# Version: 1\n# The rest is zlib:\n"
    lines = "".join(f"{line} py:function 1 x{at}.html#$ -\n"
                    for at, line in enumerate(content.split("\n")))  # fmt: skip
    return head + zlib.compress(lines.encode("utf-8", "replace"))


_PACKERS: dict[str, Callable[[str, Random], bytes]] = {
    "docx": _docx,
    "pptx": _pptx,
    "xlsx": _xlsx,
    "odt": _odt,
    "epub": _epub,
    "ipynb": _ipynb,
    "pdf": _pdf,
    "zip": _archive,
    "tar": _tar,
    "inv": _inventory,
}
