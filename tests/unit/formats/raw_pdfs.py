"""PDFs written object by object, as no program writes them: circles, forms in forms, bombs."""

import zlib

TEXT = b"BT /F1 12 Tf 72 700 Td (Words on a page.) Tj ET\n"
FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def raw_pdf(objects: dict[int, bytes]) -> bytes:
    """Return a PDF of these objects; the first is its catalogue."""
    data = bytearray(b"%PDF-1.7\n")
    places: dict[int, int] = {}
    for number, content in objects.items():
        places[number] = len(data)
        data += b"%d 0 obj\n" % number + content + b"\nendobj\n"
    start, size = len(data), max(objects) + 1
    data += b"xref\n0 %d\n0000000000 65535 f \n" % size
    for number in range(1, size):
        place = places.get(number)
        data += b"0000000000 65535 f \n" if place is None else b"%010d 00000 n \n" % place
    data += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, start)
    return bytes(data)


def stream(content: bytes, entries: bytes = b"") -> bytes:
    """Return a compressed stream."""
    packed = zlib.compress(content, 9)
    head = b"<< /Length %d /Filter /FlateDecode %s >>" % (len(packed), entries)
    return head + b"\nstream\n" + packed + b"\nendstream"


def page(contents: int, resources: bytes = b"", entries: bytes = b"") -> bytes:
    """Return a page of the tree in object 2 with the font of object 3."""
    return (
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents %d 0 R "
        b"/Resources << /Font << /F1 3 0 R >> %s >> %s >>" % (contents, resources, entries)
    )


def two_pages(objects: dict[int, bytes], catalog: bytes = b"", count: int = 2) -> bytes:
    """Return a PDF of a page 4 with the contents 6, and a page 5 with plain words."""
    tree = b"<< /Type /Pages /Kids [4 0 R 5 0 R] /Count %d >>" % count
    head = {1: b"<< /Type /Catalog /Pages 2 0 R %s >>" % catalog, 2: tree, 3: FONT}
    return raw_pdf(head | {4: page(6), 5: page(7), 6: stream(TEXT), 7: stream(TEXT)} | objects)


def nested_forms(depth: int, uses: int) -> dict[int, bytes]:
    """Return forms from object 20 on, each drawing the next one so many times."""
    forms: dict[int, bytes] = {}
    for number in range(20, 20 + depth):
        is_last = number == 19 + depth
        inner = b"" if is_last else b"/XObject << /X %d 0 R >>" % (number + 1)
        entries = (
            b"/Type /XObject /Subtype /Form /BBox [0 0 600 800] "
            b"/Resources << /Font << /F1 3 0 R >> %s >>" % inner
        )
        forms[number] = stream(TEXT if is_last else b"/X Do\n" * uses, entries)
    return forms
