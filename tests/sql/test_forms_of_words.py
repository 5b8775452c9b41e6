"""Words in every script and spelling: signs, Unicode forms, diacritics, scripts without spaces."""

import pytest
from library import ingest, keys, page, run, search, value

NAMES = {
    "c.md": "The language C is small. C compiles fast, and a C program has pointers.",
    "cs.md": "The language C# is small. C# compiles fast, and a program of it has classes.",
    "cpp.md": "The language C++ is large. With C++ a program compiles slowly.",
    "net.md": "Install the runtime .NET on the server.",
    "net-plain.md": "The net of the server holds the runtime; install a net.",
    "component.md": "A class has the decorator `@Component` at its head.",
    "component-plain.md": "A component is a class; each component has a head.",
    "ref.md": 'A schema points with {"$ref": "other.json"} to another.',
    "ref-plain.md": "A ref is a pointer of a schema; the ref leads to another.",
    "verify.md": "Commit without the hooks by `git commit --no-verify`.",
    "verify-plain.md": "No hooks verify a commit when there are no hooks; verify them.",
    "define.md": "The preprocessor reads #define MAX 10 first.",
    "define-plain.md": "First define what the preprocessor reads, define it well.",
    "arrow.md": "An arrow function is written `(a) => a + 1` in the script.",
    "pointer.md": "A member of a pointer is written `p->next` in the program.",
    "scope.md": "A static member is written `std::max` in the program.",
    "nullish.md": "A default is written `a ?? 0` in the script.",
    "walrus.md": "A variable is declared by `n := 0` in the program.",
    "hex.md": "The mask is 0x1F and the colour is #ff0000 here.",
    "x64.md": "Choose the installer for x64 machines.",
    "missing.md": "The server answers HTTP 404 for a missing page.",
    "rocket.md": "Releases are announced with a 🚀 in the channel.",
    "hot.md": "Alerts are announced with a 🔥 in the channel.",
}


@pytest.fixture(scope="module")
def names(module_connection):
    ingest(module_connection, "names", [page(k, t, title="Page") for k, t in NAMES.items()])
    return "names"


class TestNamesWithSigns:
    @pytest.mark.parametrize("function", ["keyword_search", "search"])
    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("C#", "cs.md"), ("C++", "cpp.md"), ("c#", "cs.md"), ("C", "c.md"),
            ("C# language", "cs.md"), (".NET", "net.md"), ("net", "net-plain.md"),
            ("@Component", "component.md"), ("component", "component-plain.md"),
            ("$ref", "ref.md"), ("ref", "ref-plain.md"), ("--no-verify", "verify.md"),
            ("#define", "define.md"), ("=>", "arrow.md"), ("->", "pointer.md"),
            ("::", "scope.md"), ("std::max", "scope.md"), ("??", "nullish.md"),
            (":=", "walrus.md"), ("0x1F", "hex.md"), ("#ff0000", "hex.md"), ("x64", "x64.md"),
            ("HTTP 404", "missing.md"), ("🚀", "rocket.md"), ("🔥 alerts", "hot.md"),
        ],
    )  # fmt: skip
    def test_the_name_is_first_before_its_letters(
        self, connection, names, function, query, expected
    ):
        assert keys(run(connection, function, query=query, library=names))[0] == expected

    @pytest.mark.parametrize(
        ("query", "expected"),
        [
            ("+C# program", {"cs.md"}),
            ('+"language C#" small', {"cs.md"}),
            ("program -C++ -pointer -member -declared -reads", {"cs.md"}),
            ("+=> script", None), ("-> script", None), ("-- script", None), ("+= script", None),
        ],
    )  # fmt: skip
    def test_names_are_conditions_and_signs_alone_are_not(self, connection, names, query, expected):
        found = set(keys(run(connection, "keyword_search", query=query, library=names)))
        assert found == expected if expected else {"arrow.md", "nullish.md"} <= found

    @pytest.mark.parametrize(
        ("query", "marked"),
        [
            ("C#", "**C#**"), ("c++", "**C++**"), (".net", "**.NET**"), ("$ref", "**$ref**"),
            ("=>", "**=>**"), ("::", "std**::**max"), ("std::max", "**std::max**"),
            ("--no-verify", "**--no-verify**"),
            ("🚀", "**🚀**"),
        ],
    )  # fmt: skip
    def test_excerpts_mark_the_name(self, connection, names, query, marked):
        [hit, *_] = search(connection, query, library=names, snippets=True, alpha=0)
        assert marked in hit["snippet"]

    def test_excerpts_keep_what_was_written(self, connection):
        text = "The 👩‍💻 codes ❤️ at 5 ⩽ 6 （see MySQL）"
        ingest(connection, "written", [page("a.md", text)])
        [hit] = search(connection, "codes 👩‍💻", library="written", snippets=True, alpha=0)
        assert hit["snippet"].replace("**", "").removesuffix(" …") in text
        assert "**codes**" in hit["snippet"]

    def test_explanations_show_the_name(self, connection, names):
        [hit, *_] = search(connection, "C#", library=names, explain=True)
        lexemes = [term["lexeme"] for term in hit["explanation"]["keyword"]["lexemes"]]
        assert lexemes == ["c#", "c"]

    @pytest.mark.parametrize(
        "text",
        [
            "**bold** and *italic* and ~~gone~~", "| a | b |\n|---|:-:|\n| c | d |",
            "# Title\n\n## Two",
            "- one\n- two\n\n1. three\n\n> quoted\n\n---\n***", "[a](b.md#c) ![d](e.png)",
            "```sh\nls\n```", "<!-- hidden --> <br/> http://example.org/a", "Wait... what?! Yes.",
        ],
    )  # fmt: skip
    def test_marks_of_markdown_are_no_names(self, connection, text):
        assert run(connection, "_pgrag.sign_names", input=text) == []


class TestForms:
    @pytest.mark.parametrize(
        ("written", "asked"),
        [
            ("re\u0301sume\u0301", "résumé"), ("résumé", "re\u0301sume\u0301"),
            ("\ufb01le \ufb02ow", "file flow"), ("ＡＰＩ１", "API1"),
            ("co\u00adoperate", "cooperate"),
            ("zero\u200bwidth", "zerowidth"), ("zero\ufeffwidth", "zerowidth"), ("H₂O", "H2O"),
            ("service²", "service"), ("Ⅳ", "IV"), ("ﾃﾞｰﾀ", "データ"), ("n\u0308ame", "name"),
            ("שָׁלוֹם", "שלום"), ("مُحَمَّد", "محمد"), ("Java™", "java"), ("e-mail", "email"),
            ("email", "e-mail"), ("web-site", "website"), ("UTF-8", "utf8"),
            ("2³¹", "2^31"), ("2^31", "2³¹"), ("m²", "m2"), ("m2", "m²"), ("10⁶", "10^6"),
        ],
    )  # fmt: skip
    def test_forms_of_one_word_find_each_other(self, connection, written, asked):
        ingest(connection, "forms", [
            page("a.md", f"The text has {written} in it."), page("b.md", "Another one is here."),
        ])  # fmt: skip
        assert keys(run(connection, "keyword_search", query=asked, library="forms")) == ["a.md"]
        assert keys(run(connection, "search", query=f"+{asked}", library="forms")) == ["a.md"]

    def test_a_power_is_no_number_with_its_exponent(self, connection):
        ingest(connection, "powers", [
            page("a.md", "The limit is 2³¹ rows."), page("b.md", "The limit is 2^31 bytes."),
            page("c.md", "The limit is 231 pages."),
        ])  # fmt: skip
        for query, found in [
            ("231", ["c.md"]),
            ("2³¹", ["a.md", "b.md"]),
            ("2^31", ["a.md", "b.md"]),
        ]:
            hits = run(connection, "keyword_search", query=query, library="powers")
            assert sorted(keys(hits)) == found, query


class TestDiacritics:
    @pytest.mark.parametrize(
        ("language", "written", "asked"),
        [
            ("fr", "Le thésaurus de Châtelier", "thesaurus Chatelier"),
            ("pt", "A configuração do serviço", "configuracao servico"),
            ("es", "La información de la región", "informacion"),
            ("pl", "Zażółć gęślą jaźń", "zazolc gesla"),
            ("cs", "Příliš žluťoučký kůň", "prilis kun"),
            ("tr", "Ilık İstanbul", "ilik istanbul"),
            ("tr", "ışık", "isik"),
            ("da", "smørrebrød", "smorrebrod"),
            ("vi", "Cài đặt dịch vụ", "cai dat dich vu"),
            ("ru", "Ёлка и ещё", "елка"),
            ("de", "Straße", "strasse"),
            ("el", "Η διαδικασία", "διαδικασια"),
            ("fr", "Une œuvre", "oeuvre"),
            ("xx", "Zürich café", "zurich CAFE"),
        ],
    )  # fmt: skip
    def test_words_are_found_without_them(self, connection, language, written, asked):
        ingest(connection, "folded", [
            page("a.md", written, title="A", language=language),
            page("b.md", "Xyz", title="B", language=language),
        ])  # fmt: skip
        for query in (asked, asked.upper(), f"+{asked.split()[0]}", f'"{asked.split()[-1]}"'):
            hits = run(connection, "keyword_search", query=query, library="folded")
            assert keys(hits) == ["a.md"], query
        [hit] = run(connection, "keyword_search", query=asked, library="folded", snippets=True)
        assert hit["snippet"].count("**") == 2 * len(asked.split())

    def test_the_exact_spelling_is_first_and_weighs_no_more_than_a_word(self, connection):
        ingest(connection, "exact", [
            page("plain.md", "Please resume the work.", title="A"),
            page("accented.md", "Please résumé the work.", title="A"),
            page("other.md", "Please finish the task.", title="A"),
        ])  # fmt: skip
        for query, first in [("resume", "plain.md"), ("résumé", "accented.md")]:
            hits = run(connection, "keyword_search", query=query, library="exact")
            assert keys(hits) == [first, *({"plain.md", "accented.md"} - {first})]
        terms = run(connection, "query_terms", words="résumé work", library_ids=[
            value(connection, "select library_id from pgrag.libraries where name = 'exact'")
        ])  # fmt: skip
        weights = {term["lexeme"]: term["weight"] for term in terms}
        assert set(weights) == {"résumé", "resum", "work"} or len(weights) == 3
        assert sum(w for t, w in weights.items() if t != "work") < 3 * weights["work"]

    def test_phrases_are_found_without_them_and_stop_words_add_nothing(self, connection):
        ingest(
            connection, "phrases", [page("a.md", "Um dia em São Tomé e Príncipe.", language="pt")]
        )
        for query in ('"Sao Tome"', '"São Tomé"', '"tome e principe"'):
            assert keys(run(connection, "keyword_search", query=query, library="phrases"))
        vector = value(connection, "select _pgrag.document_vector('french', 'été où à')::text")
        assert vector == "'ete':1 'où':2"


SPACELESS = [
    (
        "zh",
        "这是一段简单的测试文本。请先安装数据库，然后配置网络。",
        ["数据库", "简单", "网络", "测试文本", "库"],
    ),
    ("zh", "在Kubernetes集群中部署应用", ["集群", "kubernetes", "部署"]),
    (
        "ja",
        "ユーザー認証を開始します。APIサーバーの鍵を使う。",
        ["認証", "ユーザー", "サーバー", "api", "鍵", "使う"],
    ),
    (
        "ko",
        "데이터베이스를 설치하고 네트워크를 설정하십시오. 값을 읽다.",
        ["데이터베이스", "네트워크", "설정", "값"],
    ),
    ("th", "กรุณาติดตั้งฐานข้อมูลก่อนแล้วกำหนดค่าเครือข่าย", ["ฐานข้อมูล", "เครือข่าย"]),
    ("lo", "ກະລຸນາຕິດຕັ້ງຖານຂໍ້ມູນກ່ອນ", ["ຖານຂໍ້ມູນ"]),
    ("km", "សូមដំឡើងមូលដ្ឋានទិន្នន័យជាមុន", ["មូលដ្ឋានទិន្នន័យ"]),
    ("my", "ဒေတာဘေ့စ်ကိုအရင်ထည့်သွင်းပါ", ["ဒေတာဘေ့စ်"]),
]


class TestScriptsWithoutSpaces:
    @pytest.mark.parametrize(("language", "text", "words"), SPACELESS)
    def test_a_word_within_a_sentence_is_found_and_marked(self, connection, language, text, words):
        ingest(connection, "spaceless", [
            page("a.md", text, title="A", language=language),
            page("b.md", "Nothing of the kind.", title="B"),
            page("c.md", "这里没有。ここにない。여기없다. ไม่มี", title="C", language=language),
        ])  # fmt: skip
        for word in words:
            for query in (word, f"+{word}", f'"{word}"'):
                hits = search(connection, query, library="spaceless", snippets=True, alpha=0)
                assert keys(hits) == ["a.md"], query
                assert f"**{word}**" in hits[0]["snippet"].lower()
                assert not set("\x01\x02") & set(hits[0]["snippet"])

    def test_a_phrase_is_a_run(self, connection):
        ingest(connection, "runs", [page("a.md", "数据库在这里"), page("b.md", "数据在库里，据库")])
        assert keys(search(connection, '+"数据库"', library="runs")) == ["a.md"]
        assert keys(search(connection, '数据 -"数据库"', library="runs")) == ["b.md"]

    def test_the_built_in_model_counts_by_what_it_can_read(self, connection):
        ingest(connection, "model", [page("a.md", "Kubernetes集群的网络。 The network.")])
        alphas = [
            search(connection, query, library="model", explain=True)[0]["explanation"]["alpha"]
            for query in ("network", "kubernetes集群", "集群网络")
        ]
        assert alphas == sorted(alphas, reverse=True)
        assert alphas[0] > alphas[1] > 10 * alphas[2]

    def test_what_asks_and_joins_in_a_query_makes_no_pairs(self, connection):
        ingest(connection, "asked", [
            page("zh.md", "异步函数等待结果。普通函数不等待。"),
            page("zh-other.md", "函数有什么参数，数和普及，有什么区域，什么区间，为什么。"),
            page("ja.md", "鍵の期限は一年。更新する。"),
            page("ja-other.md", "値を知りたいときにはどうすればいいですか。"),
        ])  # fmt: skip
        for query, key in (
            ("异步函数和普通函数有什么区别", "zh.md"),
            ("鍵の期限を知りたいときにはどうすればいいですか", "ja.md"),
            ("什么", "zh-other.md"),
            ("ときには", "ja-other.md"),
        ):
            assert keys(run(connection, "keyword_search", query=query, library="asked"))[0] == key
        spared = "目的 总和 了解 把手 或许 使う ときには"
        assert value(connection, "select _pgrag.without_particles(%s)", spared).split()[:5] == [
            "目的",
            "总和",
            "了解",
            "把手",
            "或许",
        ]
        for word in ("什么", "使う", "ときには", "plain words"):
            assert value(connection, "select _pgrag.without_particles(%s)", word) == word

    def test_a_long_page_is_indexed(self, connection):
        text = "".join(chr(0x4E00 + n * 7919 % 20000) for n in range(100_000))
        ingest(connection, "long", [page("a.md", text)], embed=False)
        word = text[90_000:90_004]
        assert keys(run(connection, "keyword_search", query=word, library="long")) == ["a.md"]

    def test_notices_and_suggestions_show_no_pairs(self, connection, caplog):
        ingest(connection, "pairs", [page("a.md", "请先安装数据库")], version="1.0")
        ingest(connection, "pairs", [page("a.md", "然后配置网络")], version="2.0")
        messages = []
        connection.add_notice_handler(lambda notice: messages.append(notice.message_primary))
        search(connection, "安装数据库", library="pairs", version="2.0")
        assert not [text for text in messages if "数" in text]
        assert run(connection, "suggest", query="安装数据庫网络", library="pairs") == []


class TestStopWords:
    @pytest.fixture
    def hamlet(self, connection):
        pages = [
            page("hamlet.md", "He asks: To be, or *not* to be, that is the question."),
            page("who.md", "My generation, by The Who, is a song."),
            page("set.md", "The flag can be set to be read later."),
            page("can.md", "The flag is set can be read; it is not."),
            page("other.md", "A page on something else, of which the end is open."),
        ]
        ingest(connection, "one", pages)
        ingest(connection, "two", [*pages, page("ja.md", "サーバー を 設定", language="ja")])

    @pytest.mark.parametrize("library", ["one", "two"])
    @pytest.mark.parametrize(
        ("phrase", "expected"),
        [
            ("to be or not to be", {"hamlet.md"}), ("of with the", set()), ("the who", {"who.md"}),
            ("it is not", {"can.md"}), ("set to be", {"set.md"}), ("is set can be", {"can.md"}),
            ("BY THE WHO", {"who.md"}), ("of which the end", {"other.md"}),
        ],
    )  # fmt: skip
    def test_a_phrase_with_stop_words_is_exact(self, connection, hamlet, library, phrase, expected):
        assert set(keys(search(connection, f'"{phrase}"', library=library))) == expected
        assert set(keys(search(connection, f'+"{phrase}" page flag', library=library))) == expected
        hits = run(connection, "keyword_search", query=f'"{phrase}"', library=library)
        assert set(keys(hits)) == expected
        everything = set(keys(search(connection, "page flag question song 設定", library=library)))
        rest = search(connection, f'page flag question song 設定 -"{phrase}"', library=library)
        assert set(keys(rest)) == everything - expected


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "words"),
        [
            ("https://example.org/Daily%20Notes/erste%20Notiz", ["Notes", "Notiz", "Daily"]),
            ("https://example.org/Gr%C3%B6%C3%9Fe/agorum%20core", ["Größe", "agorum", "core"]),
            ("https://example.org/100%/done%2Fx%hzz", ["done", "hzz"]),
        ],
    )  # fmt: skip
    def test_they_are_decoded_before_they_are_words(self, connection, address, words):
        ingest(connection, "urls", [
            page("a.md", "Nothing.", url=address), page("b.md", "Nothing."),
        ])  # fmt: skip
        for word in words:
            assert keys(search(connection, f"+{word}", library="urls")) == ["a.md"], word


def test_a_name_with_signs_is_first_before_the_title_of_its_letters(connection):
    ingest(connection, "titles", [
        page("ref.md", "A ref is a reference to a ref.", title="Ref"),
        page("schema.md", "The keyword $ref points to a schema.", title="Schemas"),
        page("verify.md", "Verify it: there is no verification.", title="Verification"),
        page("hooks.md", "Pass --no-verify to skip hooks.", title="Hooks"),
        page("path.md", "A* search finds a path. AT&T and an *A* and a **B**.", title="Paths"),
        page("fridge.md", "See https://example.org/K%C3%BChlschrank%20T%C3%BCr.", title="Fridges"),
    ])  # fmt: skip
    for query, key in [
        ("$ref", "schema.md"), ("ref", "ref.md"), ("--no-verify", "hooks.md"), ("A*", "path.md"),
        ("AT&T", "path.md"), ("+kuhlschrank", "fridge.md"),
    ]:  # fmt: skip
        assert keys(search(connection, query, library="titles"))[0] == key, query
