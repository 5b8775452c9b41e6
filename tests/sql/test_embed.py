"""pgrag.embed and its model in the database, against the embedder in Python."""

import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from library import refused

from pgrag.models.embedding import BuiltinEmbedder, install
from pgrag.models.embedding.builtin import read_description

TEXTS = [
    "How do I drain a node before maintenance?",
    "naïve café, Ångström and Œuvre; CRÈME BRÛLÉE",
    "東京タワーは東京都港区にある。データベースの検索",
    "한국어 문서를 검색합니다",
    "deploy 🚀 to prod 👩‍💻 now ❤️",
    "Donaudampfschifffahrtsgesellschaftskapitän " + "a" * 100 + " " + "b" * 101,
    "const [a, setA] = useState<Map<string, number>>(() => new Map()); // why?",
    "SELECT d.id FROM docs AS d WHERE d.tags @> ARRAY['x_y'] -- 'quoted' \\ back",
    "Die Größe der Häuser überrascht Straßenbauer",
    "Как установить расширение для PostgreSQL?",
    "قواعد البيانات العلائقية وكيفية البحث",
    "חיפוש במסמכים עם ניקוד: שָׁלוֹם",
    "हिन्दी में खोज कैसे करें",
    "İstanbul ΚΌΣΜΟΣ ẞ Ǆ ﬁne",
    "soft\u00adhyphen zero\u200bwidth \ufeffbom \ue000private \ufffdreplaced",
    "tab\tnew\nline\u2028separator\u00a0hard\x1cfile\x85next",
    "## heading **bold** `code` [link](https://example.org/a?b=c#d)",
    "",
    "   ",
    "?!… —",
    "\u0301\u0302",
    "word " * 3000,
]


@pytest.fixture(scope="module")
def embedder():
    return BuiltinEmbedder()


@pytest.fixture
def connection(database_url):
    with psycopg.connect(database_url, autocommit=True) as connection:
        yield connection


@pytest.fixture
def installed(connection):
    install(connection)
    return connection


def vectors(connection, texts):
    """Embed in SQL; zeros for null, as Python has it."""
    rows = connection.execute(
        "select pgrag.embed(t.text)::real[]"
        " from unnest(%s::text[]) with ordinality as t (text, place) order by t.place",
        (texts,),
    ).fetchall()
    return np.array([row[0] or np.zeros(256) for row in rows], dtype=np.float32)


def assert_alike(found, expected):
    np.testing.assert_array_equal(found.any(axis=1), expected.any(axis=1))
    cosines = (found * expected).sum(axis=1)[expected.any(axis=1)]
    assert (cosines > 0.999).all(), cosines


def test_vectors_are_those_of_python_in_every_collation(installed, embedder):
    expected = embedder.embed_documents(TEXTS)
    assert expected.any(axis=1).sum() == len(TEXTS) - 3
    assert_alike(vectors(installed, TEXTS), expected)
    # Turkish lowers I to ı, full case mapping ends words in ς, C leaves Ä alone.
    for collation in [
        "C", "ucs_basic", "pg_c_utf8", "pg_unicode_fast", "C.utf8", "en-US-x-icu", "tr-x-icu",
    ]:  # fmt: skip
        known = installed.execute(
            "select from pg_catalog.pg_collation where collname = %s", (collation,)
        ).rowcount
        collate = f'collate "{collation}"' if known else ""
        text = "IMPORTANT İSTANBUL ΚΌΣΜΟΣ ÄPFEL МОСКВА"
        vector = installed.execute(
            f"select pgrag.embed(%s {collate})::real[]",  # type: ignore[arg-type]
            (text,),
        ).fetchone()[0]
        assert_alike(np.array([vector]), embedder.embed_documents([text]))


@settings(max_examples=60)
@given(
    texts=st.lists(
        st.text(
            st.one_of(
                st.sampled_from("abcdefinorstu ABCÄéß_-.,(){}\n\t"),
                st.sampled_from("абвеиклоПРСТ αβγΣς 東京都カガ שלום سلام 한국어 \u0301\u200d"),
                st.characters(codec="utf-8", exclude_characters="\x00"),
            ),
            max_size=120,
        ),
        min_size=1,
        max_size=10,
    )
)
def test_any_text_has_the_vector_of_python(installed, embedder, texts):
    assert_alike(vectors(installed, texts), embedder.embed_documents(texts))


def test_every_character_splits_as_in_python(installed, embedder):
    """Without characters after Unicode 3.2 that decompose: servers differ there."""
    characters = [
        character
        for character in map(chr, range(1, sys.maxunicode + 1))
        if unicodedata.category(character) not in {"Cs", "Cn"}
        and (
            unicodedata.normalize("NFD", character) == character
            or unicodedata.ucd_3_2_0.category(character) != "Cn"
        )
    ]
    text = "q".join(characters)
    words = installed.execute(
        "select _pgrag.split_words(%s, m.settings -> 'characters')"
        " from pgrag.embedding_models as m where m.name = %s",
        (text, embedder.name),
    ).fetchone()[0]
    folded = unicodedata.normalize("NFD", text).translate(embedder._word_pieces._characters)
    known = {word for word in words if word and not word.isspace()}
    assert len(characters) > 100_000
    assert " ".join(words).split() == folded.split()
    assert known


def test_result_is_a_halfvec_of_length_one_and_null_has_none(installed):
    row = installed.execute(
        "select pg_typeof(e)::text, vector_dims(e), l2_norm(e), e = pgrag.embed('a b', %s)"
        " from pgrag.embed('a b') as e",
        (read_description().name,),
    ).fetchone()
    assert row[:2] == ("halfvec", 256)
    assert row[2] == pytest.approx(1, abs=1e-3)
    assert row[3] is True
    assert installed.execute("select pgrag.embed(null)").fetchone() == (None,)


def test_unknown_and_far_models_say_so(installed):
    with refused(installed, "PGR09", "'static-docs'", read_description().name):
        installed.execute("select pgrag.embed('text', 'static-docs')")
    installed.execute(
        "insert into pgrag.embedding_models (name, provider, dimensions)"
        " values ('far-away', 'openai', 1536)"
    )
    for model in ["far-away", None]:
        with refused(installed, "PGR09", hint="query_embedding"):
            installed.execute("select pgrag.embed('text', %s)", (model,))


def test_installing_again_writes_nothing_but_mends_a_checksum(installed, embedder):
    def state():
        return installed.execute(
            "select m.xmin::text, (select max(t.xmin::text) from pgrag.model_tokens as t)"
            " from pgrag.embedding_models as m where m.name = %s",
            (read_description().name,),
        ).fetchone()

    before = state()
    install(installed)
    assert state() == before
    installed.execute("delete from pgrag.model_tokens where token < 'k'")
    installed.execute("update pgrag.embedding_models set checksum = 'old', settings = '{}'")
    model_id = installed.execute("select model_id from pgrag.embedding_models").fetchone()
    install(installed)
    assert_alike(vectors(installed, TEXTS), embedder.embed_documents(TEXTS))
    assert installed.execute("select model_id from pgrag.embedding_models").fetchone() == model_id


def test_failed_installation_leaves_nothing(connection):
    connection.execute("delete from pgrag.embedding_models")
    connection.execute(
        "alter table pgrag.model_tokens add constraint no_query check (token <> 'query')"
    )
    with pytest.raises(psycopg.errors.CheckViolation):
        install(connection)
    assert connection.execute("select count(*) from pgrag.embedding_models").fetchone() == (0,)
    connection.execute("alter table pgrag.model_tokens drop constraint no_query")
    install(connection)
    assert connection.execute("select pgrag.embed('query') is null").fetchone() == (False,)


def test_two_processes_may_install_at_once(connection, database_url):
    connection.execute("delete from pgrag.embedding_models")

    def install_by_itself(_):
        with psycopg.connect(database_url, row_factory=psycopg.rows.dict_row) as own:
            install(own)

    with ThreadPoolExecutor(2) as executor:
        list(executor.map(install_by_itself, range(2)))
    row = connection.execute(
        "select count(*), count(distinct t.model_id) from pgrag.model_tokens as t"
    ).fetchone()
    assert row == (65_521, 1)
