"""Office files from their XML, with nothing but what a test is about."""

import io
import zipfile

from pgrag.ingest.formats.formats import convert

_FORMATS = "http://schemas.openxmlformats.org"
_OFFICE = f"{_FORMATS}/officeDocument/2006"
_NAMES = {
    "a": f"{_FORMATS}/drawingml/2006/main",
    "c": f"{_FORMATS}/drawingml/2006/chart",
    "dgm": f"{_FORMATS}/drawingml/2006/diagram",
    "m": f"{_OFFICE}/math",
    "mc": f"{_FORMATS}/markup-compatibility/2006",
    "p": f"{_FORMATS}/presentationml/2006/main",
    "r": f"{_OFFICE}/relationships",
    "v": "urn:schemas-microsoft-com:vml",
    "w": f"{_FORMATS}/wordprocessingml/2006/main",
    "wp": f"{_FORMATS}/drawingml/2006/wordprocessingDrawing",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
}
NAMES = " ".join(f'xmlns:{prefix}="{name}"' for prefix, name in _NAMES.items())
SHEET = f'xmlns="{_FORMATS}/spreadsheetml/2006/main" xmlns:r="{_OFFICE}/relationships"'


def archive(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return stream.getvalue()


def relations(**targets):
    """Relations by their ids: the kind and the target, apart by a space."""
    listed = (
        f'<Relationship Id="{key}" Type="{_OFFICE}/relationships/{kind}" Target="{target}"/>'
        for key, (kind, target) in ((key, each.split()) for key, each in targets.items())
    )
    names = f"{_FORMATS}/package/2006/relationships"
    return f'<Relationships xmlns="{names}">{"".join(listed)}</Relationships>'


def docx(body, related=None, **parts):
    """A document; the names of `parts` are those in the folder `word`, without `.xml`."""
    members = {"word/document.xml": f"<w:document {NAMES}><w:body>{body}</w:body></w:document>"}
    if related:
        members["word/_rels/document.xml.rels"] = relations(**related)
    return archive(members | {f"word/{name}.xml": content for name, content in parts.items()})


def pptx(*slides, related=None, **parts):
    """A presentation of trees of shapes; all slides have the same relations."""
    listed = "".join(f'<p:sldId r:id="s{at}"/>' for at in range(len(slides)))
    members = {
        "ppt/presentation.xml": f"<p:presentation {NAMES}><p:sldIdLst>{listed}</p:sldIdLst>"
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            **{f"s{at}": f"slide slides/s{at}.xml" for at in range(len(slides))}
        ),
    }
    for at, slide in enumerate(slides):
        tree = slide if slide.startswith("<p:sld") else f"<p:sld {NAMES}>{tree_of(slide)}</p:sld>"
        members[f"ppt/slides/s{at}.xml"] = tree
        if related:
            members[f"ppt/slides/_rels/s{at}.xml.rels"] = relations(**related)
    return archive(members | {f"ppt/slides/{name}.xml": each for name, each in parts.items()})


def tree_of(shapes):
    return f"<p:cSld><p:spTree>{shapes}</p:spTree></p:cSld>"


def xlsx(sheet, formats=(), texts="", related=None):
    """A workbook of one sheet; `formats` are those of the styles 0, 1 …"""
    codes = "".join(
        f'<numFmt numFmtId="{at + 200}" formatCode="{code}"/>' for at, code in enumerate(formats)
    )
    styles = "".join(f'<xf numFmtId="{at + 200}"/>' for at in range(len(formats)))
    members = {
        "xl/workbook.xml": f'<workbook {SHEET}><sheets><sheet name="One" r:id="s"/></sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": relations(
            s="worksheet sheet.xml", t="sharedStrings texts.xml", f="styles styles.xml"
        ),
        "xl/sheet.xml": f"<worksheet {SHEET}>{sheet}</worksheet>",
        "xl/texts.xml": f"<sst {SHEET}>{texts}</sst>",
        "xl/styles.xml": f"<styleSheet {SHEET}><numFmts>{codes}</numFmts>"
        f"<cellXfs>{styles}</cellXfs></styleSheet>",
    }
    if related:
        members["xl/_rels/sheet.xml.rels"] = relations(**related)
    return archive(members)


def body(data, name="a.docx"):
    """The Markdown of a file without its front matter."""
    return convert(name, data).markdown.split("---\n\n", 1)[-1]


def run(text, properties=""):
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'


def p(*content, properties=""):
    """A paragraph; content that is no XML is a run."""
    runs = (each if each.startswith("<") else run(each) for each in content)
    return f"<w:p><w:pPr>{properties}</w:pPr>{''.join(runs)}</w:p>"


def tc(*content, properties=""):
    inner = "".join(each if each.startswith("<") else p(each) for each in content)
    return f"<w:tc><w:tcPr>{properties}</w:tcPr>{inner or p()}</w:tc>"


def tr(*cells, properties=""):
    inner = "".join(each if each.startswith("<w:") else tc(each) for each in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{inner}</w:tr>"


def tbl(*rows):
    return f"<w:tbl>{''.join(rows)}</w:tbl>"


def odt(content):
    """A text of OpenDocument."""
    oasis = "urn:oasis:names:tc:opendocument:xmlns"
    spaces = " ".join(f'xmlns:{name}="{oasis}:{name}:1.0"' for name in ("office", "text", "table"))
    body = f"<office:body><office:text>{content}</office:text></office:body>"
    root = f"<office:document-content {spaces}>{body}</office:document-content>"
    return archive({"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": root})
