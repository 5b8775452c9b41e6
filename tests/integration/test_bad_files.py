"""Files that cannot be read: each fails with a reason, from a folder and as an upload alike."""

import io
import zipfile

import pytest
from api_client import serving
from fpdf import FPDF

from pgrag.ground.errors import SourceError
from pgrag.ground.settings import Settings
from pgrag.service.app import App
from pgrag.service.worker import complete

LARGEST = 100_000
GOOD = b"# Boiler\n\nThe valve closes at noon.\n"
UPLOAD = "/v1/libraries/bad/versions/1.0/upload"


def pdf(password=""):
    document = FPDF()
    document.add_page()
    document.set_font("helvetica", size=12)
    document.cell(text="The valve closes at noon.")
    if password:
        document.set_encryption(owner_password="owner", user_password=password)
    return bytes(document.output())


def packed(members, *, is_encrypted=False):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    data = bytearray(file.getvalue())
    for head, flags in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)) if is_encrypted else ():
        at = data.find(head)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(head, at + 1)
    return bytes(data)


OFFICE = {"[Content_Types].xml": b"<Types/>", "word/document.xml": bytes(range(256)) * 8}
FILES = {
    "empty.pdf": (b"", "is empty"),
    "empty.docx": (b"", "is empty"),
    "empty.ipynb": (b"", "is empty"),
    "cut.pdf": (pdf()[:500], "damaged or cut off"),
    "cut.docx": (packed(OFFICE)[:150], "not an Office file, or is cut off"),
    "cut.ipynb": (b'{"cells": [{"cell_type": "mark', "not a Jupyter notebook"),
    "locked.pdf": (pdf("secret"), "encrypted"),
    "picture.md": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "a PNG image, not Markdown"),
    "text.docx": (b"Only text.\n", "not an Office file"),
    "text.pdf": (b"# Only text\n", "not a PDF"),
    "many.rst": (
        b".. |x| replace:: " + b"word " * 200 + b"\n\n" + b"|x| " * 600 + b"\n",
        "characters of Markdown; a page may have 400,000",
    ),
    "large.md": (b"# Large\n" + b"word " * LARGEST, "larger than 100,000 bytes"),
}
ARCHIVES = {
    "empty.zip": (b"", "is not an archive"),
    "cut.zip": (packed({f"{n}.md": GOOD for n in range(9)})[:300], "not an archive that can be"),
    "locked.zip": (packed({"a.md": GOOD}, is_encrypted=True), "encrypted"),
    "text.zip": (GOOD, "is not an archive"),
    "7.zip": (b"7z\xbc\xaf'\x1c" + bytes(99), "7-Zip"),
    "none.zip": (packed({"../a.md": GOOD}), "lead out of the archive"),
}


def assert_each_has_its_reason(report):
    assert report["written"] == 2, "good.md, and one that is empty"
    assert report["failed"].keys() == FILES.keys()
    for name, (_, reason) in FILES.items():
        assert reason in report["failed"][name]
    assert "empty.md: is empty" in report["warnings"]


def test_bad_files_of_a_folder_fail_with_a_reason_and_the_rest_goes_on(database_url, tmp_path):
    for name, (data, _) in FILES.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "good.md").write_bytes(GOOD)
    (tmp_path / "empty.md").write_bytes(b"")
    with App(Settings(database_url=database_url, max_page_bytes=LARGEST)) as app:
        report = app.index("bad", "", str(tmp_path))
        assert_each_has_its_reason(
            {name: getattr(report, name) for name in ("written", "failed", "warnings")}
        )
        for name, (data, reason) in ARCHIVES.items():
            (tmp_path / name).write_bytes(data)
            with pytest.raises(SourceError, match=reason):
                app.index("worse", "", str(tmp_path / name))


def test_bad_uploads_fail_with_a_reason_and_the_rest_goes_on(database_url):
    sent = {name: data for name, (data, _) in FILES.items()} | {"good.md": GOOD, "empty.md": b""}
    with serving(database_url, max_page_bytes=LARGEST) as api:

        def ended(response):
            assert response.status_code == 202, response.text
            return complete(api.app, response.json()["job_id"], lambda row: None)

        files = [("file", (name, data)) for name, data in sent.items()]
        assert_each_has_its_reason(ended(api.request("POST", UPLOAD, files=files))["report"])
        alone = ended(api.request("POST", f"{UPLOAD}?name=cut.docx", content=FILES["cut.docx"][0]))
        assert "or is cut off" in alone["report"]["failed"]["cut.docx"]
        for name, (data, reason) in ARCHIVES.items():
            row = ended(api.request("POST", f"{UPLOAD}?name={name}", content=data))
            [failure] = row["failures"]
            assert row["state"] == "failed", "a repetition would not help"
            assert reason in failure["reason"]
            assert "/tmp" not in failure["reason"]
        # What unpacks to more than a page may have fails alone.
        content = packed({"bomb.md": b"word " * 10_000_000, "good.md": GOOD, "/etc/a.md": GOOD})
        other = UPLOAD.replace("1.0", "2.0")
        report = ended(api.request("POST", f"{other}?name=a.zip", content=content))["report"]
        assert (report["written"], [*report["failed"]]) == (1, ["bomb.md"])
        assert "larger than 100,000 bytes" in report["failed"]["bomb.md"]
        [skipped] = report["skipped"]
        assert skipped["examples"] == ["/etc/a.md"]
