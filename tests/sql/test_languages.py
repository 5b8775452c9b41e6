"""The language of pages and of their parts: stated, shown by the text, or that of the library."""

import json

import pytest
from tests.sql.library import ingest, keys, page, refused, run, search, value

TEXTS = {
    "en": "The keeper of the hives does not open them while it is raining.",
    "de": "Der Imker öffnet die Beuten nicht, solange es noch regnet.",
    "ru": "Пчеловод не открывает ульи, пока идёт дождь, и ждёт, что он кончится.",
    "uk": "Цей посібник описує, як встановити програму на сервер і як її налаштувати.",
    "bg": "Този документ описва как да инсталирате програмата и как да я настроите.",
    "sr": "Овај документ описује како да инсталирате програм и како да га подесите.",
    "fr": "L'apiculteur n'ouvre pas les ruches pendant qu'il pleut dans les champs.",
    "es": "El apicultor no abre las colmenas mientras está lloviendo en el campo.",
    "it": "Questo documento descrive come installare il programma che non è sul server.",
    "pt": "Este documento descreve como instalar o programa. Não é difícil para os usuários.",
    "nl": "Dit is hoe je het programma op de server kunt installeren. Het is niet moeilijk.",
    "sv": "Det här är hur man installerar programmet på servern, som inte är svårt för er.",
    "pl": "Jak zainstalować program na serwerze, aby nie było problemów z danymi, i co się robi.",
    "tr": "Bu belge için bir program ve onun ile ilgili olarak daha fazla bilgi var.",
    "el": "Πώς εγκαθιστώ τη βάση δεδομένων;", "he": "מסמך על מסד נתונים", "th": "ฐานข้อมูล",
    "ar": "هذه وثيقة عن قاعدة البيانات", "fa": "این یک سند درباره پایگاه داده است",
    "hi": "यह एक दस्तावेज़ है", "ka": "მონაცემთა ბაზა", "hy": "Տվյալների բազա",
    "zh": "使用 kubectl apply 命令更新数据库", "ja": "データベースを使う方法", "ko": "데이터베이스",
}  # fmt: skip
#: Texts that show no language.
NOTHING = [
    "", "42", "```js\nfor (const i in at) { if (det) return den; }\n```", "- API\n- i18n\n- Deploy",
    "Anna Müller, Jean Dupont, María del Carmen, Peter Kühne",
    "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt.",
    "`der` `die` `das` <a class=\"und\">x</a> https://de.example/die/und/der/ist",
    "int main(void) { const int og = 1; for (int i = 0; i < og; i++) { at(i); } return og; }",
]  # fmt: skip


def language(connection, key):
    return value(connection, "select language_code from pgrag.pages where key = %s", key)


@pytest.mark.parametrize(("written", "code", "configuration"), [
    ("de-AT", "de-AT", "german"), ("de_AT.UTF-8", "de-AT", "german"), (" Deutsch ", "de", "german"),
    ("German", "de", "german"), ("GERMAN", "de", "german"), ("deu", "de", "german"),
    ("немецкий", "de", "german"), ("English (US)", "en", "english"), ("en-us,en;q=0.9", "en-US",
    "english"), ("русский", "ru", "russian"), ("Français", "fr", "french"),
    ("Franc\u0327ais", "fr", "french"), ("espanol", "es", "spanish"), ("中文", "zh", "simple"),
    ("日本語", "ja", "simple"), ("한국어", "ko", "simple"), ("zh_Hans", "zh-Hans", "simple"),
    ("pt-br", "pt-BR", "portuguese"), ("no", "no", "norwegian"), ("nb", "nb", "norwegian"),
    ("eo", "eo", "simple"), ("simple", "und", "simple"), ("", None, "simple"),
    ("xyz", None, "simple"), ("Englsh", None, "simple"), ("C", None, "simple"),
])  # fmt: skip
def test_every_usual_spelling_names_a_language(connection, written, code, configuration):
    assert value(connection, "select _pgrag.language_code(%s)", written) == code
    assert value(connection, "select _pgrag.text_search_configuration(%s)", written) == (
        configuration
    )


def test_a_text_shows_its_language(connection):
    for code, text in TEXTS.items():
        for expected in ("en", "de", "ru", "zh", None):
            found = value(connection, "select _pgrag.likely_language(%s, %s)", text, expected)
            assert found == code, (text, expected)
    for text in NOTHING:
        for expected in ("en", "de", "pt-BR", "ja", None):
            found = value(connection, "select _pgrag.likely_language(%s, %s)", text, expected)
            assert found == expected, text


def test_the_languages_of_a_mixed_vault_need_no_setting(connection):
    ingest(connection, "vault", [
        page("a.md", "Die Häuser stehen nicht auf den Bergen, und das ist schön."),
        page("b.md", "Der Imker öffnet die Beuten nicht, solange es noch regnet."),
        page("ru.md", "Мы пишем документацию для всех."),
        page("en.md", "The houses are not on the hills, and that is what we like."),
        page("code.md", "```\nx = 1\n```", title="x"),
        page("typo.md", "Das ist nicht der Rede wert und die Mühe.", language="Duetsch",
             front_matter={"Lang": "Duetsch"}),
    ])  # fmt: skip
    [library] = run(connection, "libraries")
    assert library["language"] == "de"
    pages = {row["key"]: row for row in run(connection, "pages", library="vault")}
    assert {key: row["language"] for key, row in pages.items()} == {
        "a.md": "de", "b.md": "de", "ru.md": "ru", "en.md": "en", "code.md": "de", "typo.md": "de",
    }  # fmt: skip
    assert pages["typo.md"]["warnings"] == [
        "typo.md: front matter field \"Lang\" names no language: 'Duetsch'; taken for de"
    ]
    for query, key in {
        "+документация": "ru.md", "+Haus": "a.md", "+house": "en.md", "+Beute": "b.md",
    }.items():  # fmt: skip
        assert keys(search(connection, query, library="vault")) == [key], query
    # The library keeps its language.
    ingest(connection, "vault", [page("more.md", TEXTS["en"]), page("yet.md", "x = 2")])
    assert (language(connection, "more.md"), language(connection, "yet.md")) == ("en", "de")
    assert run(connection, "check_library", library="vault") == []


def test_parts_in_another_language_have_their_own(connection):
    written = page(
        "mixed.md", "Die Häuser stehen nicht auf den Bergen, und das ist schön.",
        "Мы пишем документацию для всех.", "The houses are not on the hills, and that is it.",
        "const x = 1", title="Gemischt", language="de",
    )  # fmt: skip
    ingest(connection, "vault", [written], language="de")
    rows = connection.execute(
        "select language from pgrag.documents where level = 2 order by sort_order"
    ).fetchall()
    assert [row["language"] for row in rows] == ["german", "russian", "english", "german"]
    for query in ("+документация", "+Haus", "+house", "+const"):
        assert keys(search(connection, query, library="vault")) == ["mixed.md"], query
        assert keys(run(connection, "search_pages", query=query, library="vault")) == ["mixed.md"]
    assert language(connection, "mixed.md") == "de"
    assert run(connection, "check_library", library="vault") == []


def test_a_page_wholly_in_another_language_than_it_states(connection):
    ingest(connection, "vault", [page("wrong.md", TEXTS["ru"], language="en")])
    assert keys(search(connection, "пчеловоды", library="vault")) == ["wrong.md"]
    assert run(connection, "check_library", library="vault") == []


def test_folders_and_suffixes_count_where_the_text_agrees(connection):
    ingest(connection, "docs", [
        page("docs/pt-br/a.md", TEXTS["pt"]), page("docs/pt-br/b.md", TEXTS["en"]),
        page("i18n/de/c.md", "Server und Daten", title="Sicherung"),
        page("it/help.md", "Ask the help desk for a password."), page("no/x.md", "x = 1"),
        page("de/d.md", "Dienste und mehr"),
        page("readme.zh-CN.md", TEXTS["zh"]),
    ], language="en")  # fmt: skip
    found = run(connection, "pages", library="docs")
    assert {row["key"]: row["language"] for row in found} == {
        "docs/pt-br/a.md": "pt-BR", "docs/pt-br/b.md": "en", "i18n/de/c.md": "de",
        "it/help.md": "en", "no/x.md": "en", "de/d.md": "de", "readme.zh-CN.md": "zh-CN",
    }  # fmt: skip


def test_a_library_without_stemming_stays_so(connection):
    ingest(connection, "plain", [page("a.md", TEXTS["de"])], language="simple")
    assert value(connection, "select language from pgrag.documents limit 1") == "simple"
    assert run(connection, "libraries")[0]["language"] == "und"


class TestFilters:
    @pytest.fixture(autouse=True)
    def library(self, connection):
        ingest(connection, "tool", [
            page("en.md", "x 1", language="en"), page("zh.md", "x 2", language="zh"),
            page("pt.md", "x 3", language="pt"), page("br.md", "x 4", language="pt-BR"),
            page("pl.md", "x 5", language="pl"), page("eu.md", "x 6", language="pt-PT"),
        ])  # fmt: skip

    @pytest.mark.parametrize(("wish", "found"), [
        ("zh", "zh.md"), ("中文", "zh.md"), ("Polish", "pl.md"), ("pl-PL", "pl.md"),
        ("pt", "br.md eu.md pt.md"), ("pt_br", "br.md pt.md"), ("português", "br.md eu.md pt.md"),
        ("fr", ""),
    ])  # fmt: skip
    def test_a_page_is_found_by_any_spelling(self, connection, wish, found):
        hits = search(connection, f'x lang:"{wish}"', library="tool")
        assert sorted(keys(hits)) == found.split()
        hits = search(connection, "x", library="tool", filters={"language": wish})
        assert sorted(keys(hits)) == found.split()

    def test_what_is_no_language_is_an_error_that_names_those_there_are(self, connection):
        for query, filters in (("x lang:xyz", None), ("x", {"language": "xyz"})):
            with refused(connection, "PGR06", "needs a language, got 'xyz'",
                         "There are pages in en, pl, pt, pt-BR, pt-PT, zh."):  # fmt: skip
                search(connection, query, library="tool", filters=filters)

    def test_every_face_shows_the_language_itself(self, connection):
        [facet] = [
            row for row in run(connection, "facets", library="tool")
            if row["facet"] == "language" and row["value"] == "pt-BR"
        ]  # fmt: skip
        # As the filter finds them: also pages that only say pt.
        assert facet["page_count"] == len(
            search(connection, "lang:pt-BR", library="tool", top_k=100)
        )
        [row] = run(
            connection, "query_pages", library="tool",
            query='TABLE file.language WHERE file.name = "br"',
        )  # fmt: skip
        assert "pt-BR" in json.dumps(row)


class TestRanking:
    """Translations of a page in one library."""

    @pytest.fixture(autouse=True)
    def library(self, connection):
        ingest(connection, "guide", [
            page("en.md", "Kubernetes pods are restarted by the kubelet when they fail."),
            page("de.md", "Kubernetes pods werden von kubelet gestartet, wenn sie nicht laufen."),
            page("zh.md", "kubelet 会在 Kubernetes pods 失败时重新启动它们。"),
        ], language="en")  # fmt: skip

    @pytest.mark.parametrize(("query", "first"), [
        ("when does the kubelet restart kubernetes pods", "en.md"),
        ("wann werden die kubernetes pods von kubelet gestartet", "de.md"),
        ("kubelet 失败时重新启动 pods", "zh.md"),
    ])  # fmt: skip
    def test_that_in_the_language_of_the_query_is_first(self, connection, query, first):
        hits = search(connection, query, library="guide", explain=True)
        assert keys(hits)[0] == first
        for hit in hits:
            why = hit["explanation"]
            weight = 1 if hit["key"] == first else 0.85
            assert why["language_weight"] == weight
            fused = (1 - why["alpha"]) * hit["keyword_score"] + why["alpha"] * hit["semantic_score"]
            matched = why["parts"].get("tokens", 0)
            assert hit["score"] == pytest.approx(weight * fused + matched, rel=1e-6)
            assert ("Pages in another language weigh 0.85." in why["reasons"]) == (weight < 1)

    @pytest.mark.parametrize("arguments", [
        {"query": "kubernetes pods"}, {"query": "the pods", "filters": {"language": "de"}},
        {"query": "the pods", "mode": "semantic"},
    ])  # fmt: skip
    def test_nothing_weighs_less_where_the_language_is_open(self, connection, arguments):
        hits = search(connection, library="guide", explain=True, **arguments)
        assert hits
        assert {hit["explanation"]["language_weight"] for hit in hits} == {1}


def test_statistics_follow_the_languages_of_passages(connection):
    """A page in one language with parts in another: both averages change as pages come."""
    russian = "Мы пишем документацию для всех, кто читает её каждый день и ищет ответы."
    ingest(connection, "vault", [page("a.md", TEXTS["de"], russian, language="de")])
    for nth in range(2, 7):
        many = [TEXTS["de"] * nth, russian * nth]
        ingest(connection, "vault", [page(f"{nth}.md", *many, language="de")])
        assert run(connection, "check_library", library="vault") == []
