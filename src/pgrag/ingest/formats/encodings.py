"""Encodings as browsers read them: labels as their wider sets, detection, single faults."""

import codecs
import re

import webencodings
from webencodings.labels import LABELS

#: Python's codecs of what the web means by names that stand for less there.
_WIDER = {
    "gbk": "gb18030", "big5": "big5hkscs", "euc-jp": "euc_jp", "iso-2022-jp": "iso2022_jp_2",
    "shift_jis_2004": "cp932", "euc_jis_2004": "euc_jp",
}  # fmt: skip
#: Sets for scripts other than Latin of which each byte is a character.
_NOT_LATIN = (
    "windows-1251", "koi8-r", "koi8-u", "windows-1253", "windows-1255", "windows-1256",
    "windows-874",
)  # fmt: skip
_LATIN = ("windows-1252", "windows-1250", "iso-8859-2", "windows-1254", "windows-1257")
_SEVERAL_BYTES = ("cp932", "euc-jp", "gb18030", "big5", "big5hkscs", "cp949")
_WIDE_SETS = frozenset({"cp932", "euc_jp", "gb18030", "big5hkscs", "cp949"})
#: Sets that are tried again without bytes which they do not have, and the share of such bytes.
_WITHOUT_FAULTS = (
    "cp932", "gb18030", "big5hkscs", "cp949", "euc_jp", "cp1251", "koi8_r", "cp1253", "cp1255",
    "cp874",
)  # fmt: skip
_FAULTS = 0.01
#: Bytes with letters that are looked at for detection.
_EVIDENCE = 16_384
_ASCII = bytes(range(32, 127)) + b"\t\n\r"
_JAPANESE = re.compile(rb"\x1b\$[@B][!-~]")
_FOREIGN_WORD = re.compile(rb"[\x80-\xff]{3}")
FAULTY = "pgrag.faulty"


def codec_of(label: str) -> str | None:
    """Return Python's codec for a label by the WHATWG's Encoding Standard; None if unknown."""
    known = webencodings.lookup(label.strip("\t\n\f\r \"'"))
    if known is None or known.name in ("replacement", "x-user-defined"):
        return None
    return _WIDER.get(known.name) or str(known.codec_info.name)


def name_of(codec: str) -> str:
    """Return the label of a codec by which files declare it."""
    names = {codec_of(name): name for name in LABELS.values()}
    return str(names.get(codec, codec))


def is_other(data: bytes) -> bool:
    """Whether bytes, of which many are UTF-8, are rather text in a set of several bytes each."""
    codec = detect(data)
    return codec in _WIDE_SETS and "\ufffd" not in data.decode(codec, "replace")


def detect(data: bytes) -> str:
    """Return the codec that bytes, which are not UTF-8, are most likely written in."""
    lines = (line for line in re.split(rb"[<>\r\n]+", data) if not line.isascii())
    sample = b"\n".join(lines)[:_EVIDENCE]
    confidence, best = _likely(sample)
    for codec in _WITHOUT_FAULTS:
        text = sample.decode(codec, "ignore")
        whole = text.encode(codec, "ignore")
        if 0 < len(sample) - len(whole) <= max(2, _FAULTS * len(sample)):
            likelihood, other = _likely(whole)
            if likelihood > confidence and whole.decode(other, "ignore") == text:
                confidence, best = likelihood, other
    same = sample.decode(best, "ignore") == sample.decode("cp1252", "ignore")
    return "cp1252" if same else best


def evident(data: bytes) -> str | None:
    """Return the codec of text that shows it: ISO-2022-JP by its escapes, and UTF-16 without a
    mark by its zeros, which are all in the same half.
    """
    if data.isascii() and _JAPANESE.search(data):
        return _WIDER["iso-2022-jp"]
    zeros = data[::2].count(0), data[1::2].count(0)
    if max(zeros) <= 0.02 * len(data) or min(zeros) > 0.05 * max(zeros):
        return None
    signs = len(data) - len(data.translate(None, _ASCII))
    if sum(zeros) < 0.4 * len(data) and signs > 0.9 * (len(data) - sum(zeros)):
        return None  # text with some zeros
    codec = "utf-16-be" if zeros[0] > zeros[1] else "utf-16-le"
    text = data[:_EVIDENCE].decode(codec, "replace")
    strange = sum(not (sign.isprintable() or sign.isspace()) for sign in text)
    return codec if strange <= 0.02 * len(text) else None


def _likely(sample: bytes) -> tuple[float, str]:
    import chardet  # noqa: PLC0415 - only files in old encodings pay for its models

    # In Latin scripts, letters outside ASCII are few, and rarely beside each other.
    others = _NOT_LATIN if _FOREIGN_WORD.search(sample) else ()
    found = chardet.detect(
        sample,
        include_encodings=(*_LATIN, *_SEVERAL_BYTES, *others),
        compat_names=False,
        empty_input_encoding="cp1252",
    )
    codec = found["encoding"] or "cp1252"
    return float(found["confidence"]), _WIDER.get(codec, codec)


def _read_fault(error: UnicodeError) -> tuple[str, int]:
    """Read what a codec lacks and browsers know; one byte of anything else becomes one sign."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    data, start = error.object, error.start
    codec, byte = error.encoding.lower().replace("-", "_"), data[start]
    if codec == "utf_8":  # a passage from elsewhere
        wrong = data[start : error.end]
        return "".join(_WINDOWS_1252[each] for each in wrong), error.end
    if codec == "charmap" and byte < 0xA0:
        return chr(byte), start + 1
    if codec == "gb18030" and byte == 0x80:
        return "€", start + 1
    pair = data[start : start + 2]
    if codec == "euc_jp" and len(pair) == 2 and min(pair) >= 0xA1 and max(pair) <= 0xFE:
        row, cell = pair[0] - 0xA1, pair[1] - 0xA1
        lead = row // 2 + (0x81 if row < 62 else 0xC1)
        trail = cell + 0x9F if row % 2 else cell + 0x40 + (cell >= 63)
        pair, codec = bytes((lead, trail)), "cp932"
    elif codec == "big5hkscs":
        codec = "cp950"
    else:
        return "\ufffd", start + 1
    try:
        return pair.decode(codec), start + 2
    except UnicodeDecodeError:
        return "\ufffd", start + 1


_WINDOWS_1252 = [bytes((each,)).decode("cp1252", "ignore") or chr(each) for each in range(256)]
codecs.register_error(FAULTY, _read_fault)
