"""Write the model: WORK/languages.npz to src/pgrag/models/embedding/builtin.{npz,json}.

    write.py WORK

Classifies characters, records the origin, and writes tests/fixtures/embedding_reference.json: the
first dimensions of a few texts, computed from the shipped vectors with the teacher's tokenizer,
which is not ours, and the vocabulary.

Deliberate differences from that tokenizer: texts are not truncated, special tokens are plain text,
unassigned code points make their word unknown instead of disappearing, and characters such as form
feeds separate words.

A change that alters the vector of any text must also change NAME, here and in
sql/text/builtin_model.sql: existing databases compare vectors of one name with each other.
"""

import json
import sys
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

import numpy as np
from related import related_words
from teacher import SOURCE
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from pgrag.models.embedding.builtin import STEPS, content_checksum
from pgrag.models.embedding.word_pieces import CONTINUATION, CharacterClasses

NAME = "static-en-de-ru-256"
ROOT = Path(__file__).parents[2]
TARGET = ROOT / "src" / "pgrag" / "embedding"
REFERENCE = ROOT / "tests" / "fixtures" / "embedding_reference.json"
REFERENCE_TEXTS = (
    "How do I drain a node before maintenance?",
    "const [state, setState] = useState(null);  // React hook",
    "Über größere Häuser und naïve Cafés",
    "Как установить расширение для PostgreSQL?",
    "東京タワーは333mの電波塔です",
    "snake_case, camelCase and --long-flags",
    "Καλημέρα ΚΌΣΜΟΣ",
    "شرح قواعد البيانات",
    "한국어 문서 검색",
    "soft\u00adhyphen and zero\u200bwidth",
    "x" * 101 + " known",
    "cat 🐈 dog",
)
CHINESE = (
    (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF), (0x2F800, 0x2FA1F),
)  # fmt: skip


def main(work: Path) -> None:
    """Write the files."""
    with np.load(work / "languages.npz") as trained:
        tokens, lengths = trained["tokens"].tolist(), trained["lengths"]
        steps = trained["steps"].T.copy()
        origin = json.loads(str(trained["provenance"]))
    encoded = np.frombuffer("\n".join(tokens).encode(), dtype=np.uint8)
    characters = character_classes(tokens)

    shipped = steps.T * (lengths / STEPS)[:, np.newaxis]
    related = related_words(tokens, shipped)

    np.savez_compressed(
        TARGET / "builtin.npz", tokens=encoded, steps=steps, lengths=lengths, **related
    )
    description = {
        "name": NAME,
        "dimensions": len(steps),
        "checksum": content_checksum(encoded, steps, lengths, characters, related),
        "provenance": origin,
        "characters": asdict(characters),
    }
    (TARGET / "builtin.json").write_text(json.dumps(description, indent=2) + "\n")

    lines = []
    for text in REFERENCE_TEXTS:
        ids = reference_ids(tokens, text)
        total = shipped[ids].sum(axis=0)
        length = np.linalg.norm(total) if ids else 1
        first = [round(float(x), 5) for x in total[:8] / length]
        lines.append(f"  {json.dumps(text, ensure_ascii=False)}: {first}")
    REFERENCE.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def reference_ids(tokens: list[str], text: str) -> list[int]:
    """The tokens of a text by the teacher's tokenizer with this vocabulary."""
    unknown = len(tokens)
    tokenizer = Tokenizer.from_file(str(SOURCE / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.model = WordPiece(
        {token: index for index, token in enumerate([*tokens, "[UNK]"])}, unk_token="[UNK]"
    )
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return [index for index in ids if index != unknown]


def character_classes(tokens: Iterable[str]) -> CharacterClasses:
    """Classify characters by this Python's Unicode database, fixed for all servers and Pythons."""
    alphabet = {character for token in tokens for character in token.removeprefix(CONTINUATION)}
    capitals = [
        character
        for character in map(chr, range(0x80, sys.maxunicode + 1))
        if character.lower() != character
        and character.lower() in alphabet
        and unicodedata.normalize("NFD", character) == character
    ]
    return CharacterClasses(
        removed=bracket_expression(is_removed),
        isolated=bracket_expression(is_isolated),
        uppercase="".join(capitals),
        lowercase="".join(capitals).lower(),
    )


def is_removed(character: str) -> bool:
    """Whether a character is a nonspacing mark, control, format, private use or U+FFFD."""
    category = unicodedata.category(character)
    return not character.isspace() and (
        category in {"Mn", "Cc", "Cf", "Co"} or character == "\N{REPLACEMENT CHARACTER}"
    )


def is_isolated(character: str) -> bool:
    """Whether a character is punctuation, an ASCII sign, Chinese, or white space but the blank.

    Isolated white space is an unknown word, so its only effect is to separate words.
    """
    return character != " " and (
        unicodedata.category(character).startswith("P")
        or (character.isascii() and character.isprintable() and not character.isalnum())
        or any(first <= ord(character) <= last for first, last in CHINESE)
        or character.isspace()
    )


def bracket_expression(belongs: Callable[[str], bool]) -> str:
    """Write a class of characters so that Python's and PostgreSQL's expressions both read it."""
    ranges: list[list[int]] = []
    for code_point in range(1, sys.maxunicode + 1):
        if 0xD800 <= code_point <= 0xDFFF or not belongs(chr(code_point)):
            continue
        if ranges and ranges[-1][1] == code_point - 1:
            ranges[-1][1] = code_point
        else:
            ranges.append([code_point, code_point])
    return "[" + "".join("-".join(map(escape, sorted(set(pair)))) for pair in ranges) + "]"


def escape(code_point: int) -> str:
    """Name a code point; the short form reaches U+FFFF."""
    return f"\\u{code_point:04X}" if code_point <= 0xFFFF else f"\\U{code_point:08X}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
