"""Archives as sources: what is in them is read in place, and hostile ones end with a reason."""

import bz2
import gzip
import io
import lzma
import stat
import struct
import tarfile
import tracemalloc
import zipfile

import pytest
from trees import contents

from pgrag.ground.errors import SourceError
from pgrag.ingest.source import archive, unpacking
from pgrag.ingest.source.sources import discover

PAGES = {
    "kestrel-2.0/README.md": "# Kestrel\n",
    "kestrel-2.0/guide/install.md": "# Install\n",
    "kestrel-2.0/.gitignore": "drafts/\n",
    "kestrel-2.0/drafts/next.md": "# Next\n",
    "kestrel-2.0/logo.svg": "<svg/>",
    "kestrel-2.0/node_modules/x/README.md": "# X\n",
    "__MACOSX/kestrel-2.0/._README.md": "\0\5",
}
EXPECTED = {"README.md": b"# Kestrel\n", "guide/install.md": b"# Install\n"}


def zipped(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return path


def tarred(path, files, mode="w"):
    with tarfile.open(path, mode) as packed:  # type: ignore[call-overload]
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
    return path


@pytest.mark.parametrize("make", [
    lambda path: zipped(path, PAGES),
    lambda path: zipped(path, PAGES, zipfile.ZIP_STORED),
    lambda path: zipped(path, PAGES, zipfile.ZIP_BZIP2),
    lambda path: tarred(path, PAGES),
    lambda path: tarred(path, PAGES, "w:gz"),
    lambda path: tarred(path, PAGES, "w:bz2"),
    lambda path: tarred(path, PAGES, "w:xz"),
])  # fmt: skip
def test_the_pages_of_an_archive_are_read_without_its_only_folder(tmp_path, make):
    # The content says what it is, not the name.
    path = make(tmp_path / "download")
    with discover(str(path)) as source:
        assert {file.key: file.read() for file in source.files()} == EXPECTED
        assert {file.key: file.read(1000) for file in source.files()} == EXPECTED
        assert (source.ignored, source.revision, len(source)) == (1, None, 2)
        assert source.arguments is not None
        assert source.arguments["source"] == str(path)
    assert [*tmp_path.iterdir()] == [path]


def test_the_selection_and_the_generator_hold_for_an_archive(tmp_path):
    path = tarred(tmp_path / "a.tgz", PAGES, "w:gz")
    assert contents(path, subfolder="guide") == {"install.md": b"# Install\n"}
    assert contents(path, include=["guide/**"]) == {"guide/install.md": b"# Install\n"}
    assert set(contents(path, include_ignored=True)) == {*EXPECTED, "drafts/next.md"}
    with pytest.raises(SourceError, match="is a file; a ref is read from a folder"):
        discover(str(path), ref="main")
    with pytest.raises(SourceError, match=r"a\.tgz/missing: no documentation in it"):
        discover(str(path), subfolder="missing")
    files = PAGES | {"kestrel-2.0/conf.py": "['myst_parser']"}
    for path in (zipped(tmp_path / "a.zip", files), tarred(tmp_path / "a.tar", files)):
        with discover(str(path)) as source:
            assert source.generator().style == "sphinx"


def test_names_and_streams_are_read_as_when_unpacked(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a/x.md": "x", "b/y.md": "y"})
    assert set(contents(path)) == {"a/x.md", "b/y.md"}
    path = tarred(tmp_path / "a.tar", {"x.md": "old", "./x.md": "new", "y.md": "y"})
    assert contents(path)["x.md"] == b"new"
    data = tarred(tmp_path / "plain.tar", PAGES).read_bytes()
    for kind in (gzip, bz2, lzma):
        path = tmp_path / kind.__name__
        compress = kind.compress
        path.write_bytes(compress(data[:1000]) + compress(data[1000:]))
        assert contents(path) == EXPECTED
    path = zipped(tmp_path / "a.zip", {"b.md": "# B\n", "a.md": "# A\n"})
    assert contents(spoiled(path, 46, b"\0")) == {"a.md": b"# A\n"}


def test_links_devices_and_names_that_leave_the_archive_are_skipped(tmp_path):
    bad = {"../up.md": "1", "/etc/passwd.md": "2", "a/../../b.md": "3", "C:\\x.md": "4"}
    for path in (
        zipped(tmp_path / "a.zip", bad | {"docs\\good.md": "5", "b.md": "6"}),
        tarred(tmp_path / "a.tar", {**bad, "C:/x.md": "4", "docs/good.md": "5", "b.md": "6"}),
    ):
        with discover(str(path)) as source:
            assert {"docs/good.md", "b.md"} <= {file.key for file in source.files()}
            assert not any(".." in file.key or "passwd" in file.key for file in source.files())
            [skipped] = source.skipped
            assert (skipped.reason, skipped.count) == ("names that lead out of the archive", 4)
    path = tmp_path / "a.tar"
    with tarfile.open(path, "w") as packed:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.BLKTYPE):
            member = tarfile.TarInfo(f"{kind.decode()}.md")
            member.type, member.linkname = kind, "/etc/passwd"
            packed.addfile(member)
        packed.addfile(tarfile.TarInfo("good.md"))
    with discover(str(path)) as source:
        assert [file.key for file in source.files()] == ["good.md"]
        assert [(each.reason, each.count) for each in source.skipped] == [("links and devices", 4)]
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as packed_zip:
        link = zipfile.ZipInfo("soft.md")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        packed_zip.writestr(link, "/etc/passwd")
        packed_zip.writestr("good.md", "x")
    assert set(contents(path)) == {"good.md"}


def test_members_that_cannot_be_unpacked_leave_the_others(tmp_path):
    path = zipped(tmp_path / "a.zip", {"secret.md": "s", "open.md": "o"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 8] |= 1  # the flag of the first member
    path.write_bytes(data)
    with discover(str(path)) as source:
        assert [file.key for file in source.files()] == ["open.md"]
        [skipped] = source.skipped
        assert (skipped.reason, skipped.examples) == ("encrypted", ("secret.md",))
        assert "password" in skipped.hint
    path = zipped(tmp_path / "a.zip", {"a.md": "abc" * 99, "b.md": "b"}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"abcabc", b"abcabd", 1))
    with discover(str(path)) as source:
        damaged, whole = source.files()
        with pytest.raises(SourceError, match=r"a\.md: cannot be unpacked: Bad CRC-32"):
            damaged.read()
        assert whole.read() == b"b"
    path = zipped(tmp_path / "a.zip", {"a/a.md": "# A\n", "a/b.md": "# B\n"})
    with discover(str(spoiled(path, 8, b"\x20\0"))) as source:  # patched data
        first, second = source.files()
        with pytest.raises(SourceError, match=r"a\.md: cannot be unpacked: compressed patched"):
            first.read()
        assert second.read() == b"# B\n"


def test_a_bomb_costs_neither_memory_nor_the_other_pages(tmp_path):
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as packed:
        with packed.open("bomb.md", "w") as member:
            for _ in range(300):
                member.write(bytes(1_000_000))
        packed.writestr("good.md", "x")
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    try:
        with discover(str(path)) as source:
            bomb, good = source.files()
            with pytest.raises(SourceError, match=r"bomb\.md: is larger than 5,000,000 bytes"):
                bomb.read(5_000_000)
            assert good.read(5_000_000) == b"x"
        assert tracemalloc.get_traced_memory()[1] < 60_000_000
    finally:
        tracemalloc.stop()


def test_what_an_archive_may_hold_is_bounded(tmp_path, monkeypatch):
    files = {f"{n}.md": "x" * 10_000 for n in range(30)}
    paths = [tarred(tmp_path / f"a.t{kind}", files, f"w:{kind}") for kind in ("gz", "xz")]
    zip_path = zipped(tmp_path / "a.zip", files)
    monkeypatch.setattr(unpacking, "LARGEST", 100_000)
    for path in paths:
        with pytest.raises(SourceError, match="holds more than 100,000 bytes"):
            discover(str(path))
    monkeypatch.setattr(archive, "LARGEST", 100_000)
    with pytest.raises(SourceError, match="holds more than"):
        contents(zip_path)
    monkeypatch.setattr(unpacking, "LARGEST", 10_000_000)
    monkeypatch.setattr(archive, "MOST_MEMBERS", 20)
    for path in paths:
        with pytest.raises(SourceError, match="more than 20 members"):
            discover(str(path))
    monkeypatch.setattr(archive, "LONGEST_DIRECTORY", 1000)
    with pytest.raises(SourceError, match="directory is longer than 1,000 bytes"):
        discover(str(zip_path))
    monkeypatch.setattr(archive, "MOST_MEMBERS", 50)
    monkeypatch.setattr(archive, "LARGEST_MEMBER", 9_999)
    with pytest.raises(SourceError, match="skipped are larger than 9,999 bytes"):
        discover(str(paths[0]))


def test_what_cannot_be_read_as_an_archive_is_told(tmp_path):
    """The size of an extended header is read at once: here it is a gigabyte of zeros."""
    header = tarfile.TarInfo("x")
    header.type, header.size = tarfile.XHDTYPE, 1_000_000_000
    path = tmp_path / "a.tgz"
    with gzip.open(path, "wb", 1) as file:
        file.write(header.tobuf())
        file.write(bytes(5_000_000))
    with pytest.raises(SourceError, match="is not an archive: its header has"):
        discover(str(path))
    (tmp_path / "a.md.gz").write_bytes(gzip.compress(b"# Title\n" * 500))
    with pytest.raises(SourceError, match=r"a\.md\.gz: is not an archive that can be read"):
        discover(str(tmp_path / "a.md.gz"))
    path = spoiled(zipped(tmp_path / "a.zip", {"a.md": "# A\n"}), 6, b"\xff\0")
    with pytest.raises(SourceError, match="is not an archive that can be read: zip file version"):
        discover(str(path))
    for name in ["a.zip", "A.TAR.GZ", "a.7z"]:
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(SourceError, match="is not an archive, despite its name"):
            discover(str(tmp_path / name))
    for name in ["a.zip", "a.tar", "a.tgz", "a.tbz", "a.txz"]:
        files = {f"{n}.md": "".join(chr(65 + n * i % 57) for i in range(3000)) for n in range(9)}
        modes = {"a.tar": "w", "a.tgz": "w:gz", "a.tbz": "w:bz2", "a.txz": "w:xz"}
        path = tmp_path / name
        _ = zipped(path, files) if name == "a.zip" else tarred(path, files, modes[name])
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(SourceError, match=rf"{name}: is not an archive that can be read"):
            discover(str(path))


@pytest.mark.parametrize(("data", "packer"), [
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!\x1a\x07\0", "RAR"),
    (b"\x28\xb5\x2f\xfd", "Zstandard"),
])  # fmt: skip
def test_other_packers_are_named(tmp_path, data, packer):
    (tmp_path / "a").write_bytes(data + bytes(600))
    with pytest.raises(SourceError, match=f"is packed by {packer}") as caught:
        discover(str(tmp_path / "a"))
    assert "Unpack it" in str(caught.value.hint)


def test_a_document_that_is_a_zip_inside_is_no_archive(tmp_path):
    office = zipped(tmp_path / "a.docx", {"[Content_Types].xml": "<x/>", "word/document.xml": "x"})
    book = zipped(tmp_path / "a.epub", {"mimetype": "application/epub+zip", "a.md": "x"})
    for path in (office, book):
        with discover(str(path)) as source:
            assert [file.key for file in source.files()] == [path.name]


def spoiled(path, place, value):
    """Change bytes of the first entry of the directory."""
    data = bytearray(path.read_bytes())
    start = data.index(b"PK\x01\x02") + place
    data[start : start + len(value)] = value
    path.write_bytes(data)
    return path


def test_a_long_directory_is_refused_wherever_its_length_stands(tmp_path, monkeypatch):
    """The 64-bit record counts, whatever the record behind it says."""
    path = zipped(tmp_path / "a.zip", {f"{n}.md": "# A\n" for n in range(100)})
    data = path.read_bytes()
    end = data.rindex(b"PK\x05\x06")
    count, size, start = struct.unpack_from("<10xHLL", data, end)
    fields = (b"PK\x06\x06", 44, 45, 45, 0, 0, count, count, size, start)
    long_end = struct.pack("<4sQHHLLQQQQ", *fields)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, end, 1)
    lie = data[end : end + 12] + struct.pack("<L", 10) + data[end + 16 :]
    path.write_bytes(data[:end] + long_end + locator + lie)
    assert len(contents(path)) == 100
    monkeypatch.setattr(archive, "LONGEST_DIRECTORY", 1000)
    with pytest.raises(SourceError, match="directory is longer than 1,000 bytes"):
        discover(str(path))
