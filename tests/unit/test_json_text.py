"""JSON that has one meaning only."""

import pytest

from pgrag.ground.json_text import InvalidJson, read_json

REFUSED = {
    "a repeated member": ('{"a": 1, "b": 2, "a": 1}', 'The member "a" is given more than once'),
    "one deep below": ('[{"b": [{"a": 1, "a": 2}]}]', 'The member "a"'),
    "one in other letters": ('{"a": 1, "\\u0061": 2}', 'The member "a"'),
    "an empty name twice": ('{"": 1, "": 2}', 'The member ""'),
    "NaN": ("[NaN]", "NaN is not JSON"),
    "infinity": ('{"a": -Infinity}', "-Infinity is not JSON"),
    "a number without end": ("1e999", "1e999 is too large"),
    "thousands of digits": ("1" * 5000, "thousands of digits"),
    "half a pair": ('["\\ud83d"]', "half a pair"),
    "half a pair for a name": ('{"\\ude00": 1}', "half a pair"),
    "half a pair as it is": ('"\ud83d"', "half a pair"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "is not UTF-8"),
    "a wrong byte": (b'"\xff"', "Byte 1 is not UTF-8"),
    "arrays": ("[" * 201 + "]" * 201, "more than 200 levels"),
    "a hundred thousand arrays": ("[" * 100_000, "more than 200 levels"),
    "objects": ('{"a":' * 201 + "1" + "}" * 201, "more than 200 levels"),
    "two marks of the byte order": ("\ufeff\ufeff{}", "Expecting value"),
    "a comma at the end": ("[1,\n2,]", "line 2, column 3"),
    "single quotes": ("{'a': 1}", "column 2"),
    "more than one": ("{} {}", "Extra data"),
    "a comment": ("{} // a", "Extra data"),
    "nothing": ("", "Expecting value"),
}


@pytest.mark.parametrize(("text", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_readers_take_differently_is_refused(text, reason):
    with pytest.raises(InvalidJson, match=r"(?s).") as refused:
        read_json(text)
    assert reason in str(refused.value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"\xef\xbb\xbf{}", {}),
        ('["\\ud83d\\ude00"]', ["\U0001f600"]),
        ('{"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}', {"a": {"a": 1}, "b": [{"a": 2}, {"a": 3}]}),
        ("[" * 200 + "]" * 200, None),
        ('["' + "[{" * 500 + '"]', ["[{" * 500]),
        ('["\\"' + "[" * 500 + '"]', ['"' + "[" * 500]),
        ("[1e308, -0.5, 12345678901234567890]", [1e308, -0.5, 12345678901234567890]),
    ],
)
def test_other_json_is_read(text, value):
    read = read_json(text)
    assert value is None or read == value


def test_halves_of_pairs_may_be_kept():
    assert read_json('["\\ud83d"]', halves=True) == ["\ud83d"]
    with pytest.raises(InvalidJson):
        read_json('{"a": "\\ud83d", "a": 1}', halves=True)
