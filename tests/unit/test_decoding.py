"""Encodings, line ends, NUL and binary files."""

import os
import random
import zlib

import pytest

from pgrag.ground.errors import SourceError
from pgrag.ingest.formats import formats
from pgrag.ingest.formats.decoding import decode
from pgrag.ingest.values import Origin


def test_wrong_bytes_and_nul_are_repaired_with_a_warning():
    text, warnings = decode("docs/a.md", "Größe für Köln".encode("latin-1"))
    assert text == "Größe für Köln"
    assert [each[:45] for each in warnings] == ["docs/a.md: is not UTF-8; read as windows-1252"]
    text, warnings = decode("a.md", "Gr\u00f6\u00dfe: ".encode() + b"\x96 5 \x81 \xe9")
    assert text == "Größe: – 5 \x81 é"
    assert len(warnings) == 1
    warnings = ["a.md: 2 NUL characters removed"]
    assert decode("a.md", b"# A\0B\n\n\0text") == ("# AB\n\ntext", warnings)
    for encoding in ["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"]:
        data = "\ufeff# Привет\r\n\rÜber\r\n".encode(encoding)
        assert decode("a.md", data) == ("# Привет\n\nÜber\n", [])
    for data in [b"", b"\n", b"\x1b[1mbold\x1b[0m", b"a\fb"]:
        assert decode("a.md", data) == (data.decode(), [])


@pytest.mark.parametrize(("data", "kind"), [
    (b"%PDF-1.7 text", "PDF"),
    (b"PK\x03\x04word/document.xml", "ZIP"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"\x7fELF\x02\x01", "program"),
    (random.Random(1).randbytes(4000), "binary"),
    (zlib.compress(os.urandom(2000)), "binary"),
    (b"\0\1\0\2" * 200, "binary"),
])  # fmt: skip
def test_a_binary_file_is_refused_by_name(data, kind):
    with pytest.raises(SourceError, match=rf"^docs/a\.md: .*{kind}"):
        decode("docs/a.md", data)


@pytest.mark.parametrize(("label", "codec", "text"), [
    ("gb2312", "gb18030", "镕 and 喆, € too"),
    ("Shift_JIS", "cp932", "①髙橋の設定"),
    ("ks_c_5601-1987", "cp949", "뷁 설정"),
    ("big5", "big5hkscs", "碁 與 嘅"),
    ("ISO-8859-1", "cp1252", "“Straße” — 5 €"),
    ("us-ascii", "cp1252", "naïve"),
    ("iso-8859-9", "cp1254", "“Şifre” ığ"),
    ("tis-620", "cp874", "“คู่มือ”"),
    ("koi8-u", "koi8-u", "Їжак і ґрунт"),
    ("x-mac-cyrillic", "mac-cyrillic", "Привет"),
])  # fmt: skip
def test_a_label_means_the_wider_set_wherever_it_stands(label, codec, text):
    data = text.encode(codec)
    served = Origin(f'text/html; Charset="{label}"')
    for page, origin in [
        (b"<html><p>%s" % data, served),
        (b"<meta charset=koi8-r><p>%s" % data, served),
        (b"<!doctype html><meta content='text/html; charset=%s' http-equiv=Content-Type>%s"
         % (label.encode(), data), Origin()),
        (b'<?xml version="1.0" encoding="%s"?>\n<p>%s' % (label.encode(), data), Origin()),
        (b".. -*- coding: %s -*-\n%s" % (label.encode(), data), Origin()),
    ]:  # fmt: skip
        read, warnings = decode("a", page, origin)
        assert read.endswith(text)
        assert warnings == []


@pytest.mark.parametrize(("codec", "name", "text"), [
    ("cp1251", "windows-1251", "Сначала установите сервер, затем настройте сеть."),
    ("koi8-r", "koi8-r", "Сначала установите сервер, затем настройте сеть."),
    ("cp932", "shift_jis", "最初にサーバーをインストールしてください。"),
    ("euc_jp", "euc-jp", "最初にサーバーをインストールしてください。"),
    ("iso2022_jp", "iso-2022-jp", "最初にサーバーをインストールしてください。"),
    ("gb18030", "gb18030", "首先安装服务器，然后设置网络并检查日志。"),
    ("big5", "big5", "首先安裝伺服器，然後設定網路並檢查記錄檔。"),
    ("cp949", "euc-kr", "먼저 서버를 설치한 다음 네트워크를 설정하십시오."),
    ("cp1250", "windows-1250", "Najpierw zainstaluj serwer, następnie otwórz „ustawienia” sieci."),
    ("cp1253", "windows-1253", "Πρώτα εγκαταστήστε τον διακομιστή και μετά το δίκτυο."),
    ("utf-16-le", "utf-16le", "# Install the server, затем сеть."),
    ("utf-16-be", "utf-16be", "# Install the server, затем сеть."),
])  # fmt: skip
def test_the_likely_encoding_is_a_warning_and_a_bad_byte_spoils_one_character(codec, name, text):
    data = text.encode(codec)
    is_evident = "16" in name or "2022" in name
    for page in (data, data if is_evident else b"<meta charset=utf-8><p>" + data):
        read, warnings = decode("a.txt", page, Origin("text/html; charset=utf-8"))
        assert read.endswith(text)
        assert len(warnings) == 1
        assert f"read as {name}, the likely encoding" in warnings[0]
    if is_evident:
        return
    half = len(text[: len(text) // 2].encode(codec))
    read, warnings = decode("a.txt", data[:half] + b"\xff" + data[half:])
    assert (read[: len(text) // 2], read[-len(text) // 2 :]) == (
        text[: len(text) // 2],
        text[-len(text) // 2 :],
    )
    assert len(read) == len(text) + 1


def test_utf_8_is_recognised_where_another_encoding_is_declared():
    data = "<meta charset=iso-8859-1><p>Größe".encode()
    assert decode("a.html", data) == (
        data.decode(),
        ["a.html: is UTF-8, though it declares windows-1252"],
    )
    text, warnings = decode("a.md", "# é\n<meta charset=gb2312>".encode())
    assert ("é" in text, warnings) == (True, [])
    # The header of a server that names UTF-8 for everything.
    cyrillic = "<meta charset=windows-1251><p>Сеть".encode("cp1251")
    assert decode("a", cyrillic, Origin("text/html; charset=utf-8")) == (
        cyrillic.decode("cp1251"),
        [],
    )


@pytest.mark.parametrize("name", ["a.html", "a.rst", "a.txt", "a.md"])
def test_every_format_of_text_is_decoded_so(name):
    html = "<html><body><p>" if name == "a.html" else ""
    data = f"{html}Сначала установите сервер, затем настройте сеть.".encode("koi8-r")
    assert "установите" in formats.convert(name, data).markdown
    assert "установите" in formats.convert(name, data, Origin("; charset=koi8-r")).markdown
