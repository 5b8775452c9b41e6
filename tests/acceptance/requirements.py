"""What pgrag does, a row each: the same thing asked in SQL, over REST and on the command line.

`$name` stands for an id, see NAMES. Every answer must contain each text of `shows`, and none of
`hides`. A face that a row leaves out does not have the thing by its nature: a configuration file is
applied by a person, a figure of the database is read in SQL.
"""

from dataclasses import dataclass

#: The one value of a query by which a row can say `$name`.
NAMES = {
    "intro": (
        "select document_id from pgrag.search('heading:Einleitung', 'agorum', levels => '{1}')"
    ),
    "agoscript": "select page_id from pgrag.find_page('agorum', 'agoscript')",
    "archive": "select page_id from pgrag.find_page('vault', 'archive store')",
    "backup": "select page_id from pgrag.find_page('vault', 'Backup')",
    "budget": "select page_id from pgrag.find_page('vault', 'budget.md')",
    "guide": "select page_id from pgrag.find_page('banking', 'banking_guide')",
    "sepa": (
        "select document_id from"
        " pgrag.search('heading:\"SEPA Countries\"', 'banking', levels => '{1}')"
    ),
    "recorded": (
        "select search_id from"
        " pgrag.recorded_search('archive', 'vault', options => '{\"graph\": true}') limit 1"
    ),
}


@dataclass(frozen=True)
class Row:
    """One capability by the id of its requirement, asked in three ways."""

    id: str
    what: str
    sql: str = ""
    #: `GET /path?query`, or `POST /path` and the JSON of a body after a blank.
    rest: str = ""
    cli: str = ""
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()

    def faces(self) -> dict[str, str]:
        """The questions by face."""
        every = {"SQL": self.sql, "REST": self.rest, "CLI": self.cli}
        return {face: question for face, question in every.items() if question}


ROWS = [
    Row("F1", "Front matter becomes title, link, path and typed properties",
        "select page->>'title', page->>'link', q.name, q.value from pgrag.page($agoscript),"
        " pgrag.page_properties($agoscript) as q where q.name = 'reviewers'",
        "GET /v1/pages/$agoscript",
        "query agorum 'TABLE title, link, reviewers WHERE name = \"agorum core agoscript\"' --json",
        shows=("agorum core agoscript", "https://wiki.example.org/pages/4711", "hanna")),
    Row("F2", "The hierarchical path stands before the headings",
        "select path from pgrag.document($intro)",
        "GET /v1/documents/$intro",
        "search heading:Einleitung -l agorum --json",
        shows=("agorum core für Entwickler", "agorum core agoscript", "Übersicht", "Einleitung")),
    Row("F3", "The embedded text begins with title, url and path; the stored text does not",
        "select _pgrag.embedding_text(title, url, path, content), content"
        " from pgrag.document($intro)",
        shows=("agorum core für Entwickler / agorum core agoscript / Übersicht / Einleitung",)),
    Row("F4", "A chunk keeps its types",
        "select title, types from"
        " pgrag.search('transaction', 'agorum', filters => '{\"types\": \"code\"}')",
        'GET /v1/search?q=transaction&library=agorum&filters={"types":"code"}',
        "search transaction -l agorum -f types=code --json",
        shows=("Bibliotheken von agoscript", "code")),
    Row("F5", "Title, path, url and content have weights of their own, per library",
        "select settings->'field_weights' from pgrag.libraries() where library = 'agorum'",
        "GET /v1/libraries/agorum",
        "configure agorum --json",
        shows=("title", "path", "url", "content")),
    Row("F6", "Two retrievers, fused by Reciprocal Rank Fusion",
        "select score, title from pgrag.search('Skriptsprache', 'agorum', fusion => 'rrf',"
        " rrf_k => 60, rrf_weights => '{1, 1}')",
        "GET /v1/search?q=Skriptsprache&library=agorum&fusion=rrf&rrf_k=60&rrf_weights=1,1",
        "search Skriptsprache -l agorum --fusion rrf --rrf-k 60 --rrf-weights 1,1 --json",
        shows=("0.0327868", "agorum core agoscript")),
    Row("F7", "Siblings are found by path, across pages",
        "select heading, key from pgrag.siblings($intro)",
        "GET /v1/documents/$intro/siblings",
        shows=("JavaScript API Übersicht", "Transaktionen", "bibliotheken.md"),
        hides=("rest.md",)),
    Row("F8", "Topic, type, tags and date filter",
        "select key from pgrag.search('Übersicht', 'agorum', filters =>"
        ' \'{"topic": "development", "tags": "agoscript", "date": {">=": "2025-01-01"}}\')',
        'GET /v1/search?q=Übersicht&library=agorum&filters={"topic":"development",'
        '"tags":"agoscript","date":{">=":"2025-01-01"}}',
        "search Übersicht -l agorum -f topic=development -f tags=agoscript -f date>=2025-01-01"
        " --json",
        shows=("bibliotheken.md",),
        hides=("rest.md", "agoscript.md")),
    Row("F10", "Each page is searched in its own language",
        "select key, content from pgrag.keyword_search('Änderung ausführen', 'agorum', top_k => 1)",
        "GET /v1/search?q=Änderung ausführen&mode=keyword&library=agorum&top_k=1",
        "search 'Änderung ausführen' -l agorum --keyword -n 1 --json",
        shows=("Mehrere Änderungen werden gemeinsam ausgeführt",)),
    Row("F11", "Equal texts under different paths are told apart",
        "select key from pgrag.search('REST JavaScript API Übersicht', 'agorum', top_k => 1)",
        "GET /v1/search?q=REST JavaScript API Übersicht&library=agorum&top_k=1",
        "search 'REST JavaScript API Übersicht' -l agorum -n 1 --json",
        shows=("rest.md",),
        hides=("agoscript.md",)),
    Row("R1", "The best pages are expanded in reading order; what was added has the score 0.1",
        "select relation, score, path from"
        " pgrag.context('Wo hat Peter Kühne gearbeitet?', 'personal', top_k => 1)",
        "GET /v1/context?q=Wo hat Peter Kühne gearbeitet?&library=personal&top_k=1",
        "context 'Wo hat Peter Kühne gearbeitet?' -l personal -n 1 --json",
        shows=("expansion", "0.1", "Ausbildung", "Medizintechnik Saale AG, Jena")),
    Row("R2", "A question about everything finds summaries of pages",
        "select query_type, levels from pgrag.detect_intent('give me an overview of all values')",
        "GET /v1/intent?q=give me an overview of all values",
        "intent 'give me an overview of all values' --json",
        shows=("aggregative", "0", "1", "2")),
    Row("R3", "Types of questions, in Russian too",
        "select query_type from pgrag.detect_intent('как связаны память и сон')",
        "GET /v1/intent?q=как связаны память и сон",
        "intent 'как связаны память и сон' --json",
        shows=("relational",)),
    Row("R4", "A chunk comes with what is above it, and no text twice",
        "select relation, path from pgrag.context('IBAN SEPA', 'banking', top_k => 1,"
        " expand => false, parents => true)",
        "GET /v1/context?q=IBAN SEPA&library=banking&top_k=1&expand=false&parents=true",
        "context 'IBAN SEPA' -l banking -n 1 --no-expand --parents --json",
        shows=("parent",)),
    Row("R5", "The end of the paragraph before is kept beside a chunk",
        "select block from pgrag.context('vierzig Fahrzeuge Tourenplanung', 'personal', top_k => 1,"
        " expand => false, overlap => true)",
        "GET /v1/context?q=vierzig Fahrzeuge Tourenplanung&library=personal&top_k=1&expand=false"
        "&overlap=true",
        "context 'vierzig Fahrzeuge Tourenplanung' -l personal -n 1 --no-expand --overlap",
        shows=("Nordlicht",)),
    Row("R6", "alpha is the share of the vectors",
        "select to_json(h) from pgrag.search('coroutine', 'vault', alpha => 1, top_k => 1) as h",
        "GET /v1/search?q=coroutine&library=vault&alpha=1&top_k=1",
        "search coroutine -l vault --alpha 1 -n 1 --json",
        shows=('keyword_score":null', "reading.md")),
    Row("R8", "A threshold counts before the limit",
        "select key from pgrag.search('archive', 'vault', top_k => 2, min_score => 0.05)",
        "GET /v1/search?q=archive&library=vault&top_k=2&min_score=0.05",
        "search archive -l vault -n 2 --min-score 0.05 --json",
        shows=("database.md", "backup.md")),
    Row("R12", "The tools of an agent: semantic_search(threshold)",
        rest='POST /v1/tools/semantic_search {"arguments": {"query": "await", "threshold": 0.3},'
        ' "library": "vault"}',
        shows=("Coroutines in Python",)),
    Row("R12", "Its arguments by the document's names: limit, chunkId, the same library",
        rest='POST /v1/tools/read_chunk {"arguments": {"chunkId": "reading.md#c1", "library":'
        ' "vault", "expand": true}, "library": "vault"}',
        shows=('"outcome":"found"', "chunk_id of each")),
    Row("R14", "Every employer answers: Wo hat Peter Kühne gearbeitet?",
        "select block from pgrag.context('Wo hat Peter Kühne gearbeitet?', 'personal')",
        "GET /v1/context?q=Wo hat Peter Kühne gearbeitet?&library=personal",
        "context 'Wo hat Peter Kühne gearbeitet?' -l personal",
        shows=("Nordlicht Logistik", "Medizintechnik Saale", "Stadtwerke Halle", "Brandt & Söhne")),
    Row("G1", "A registry of page types",
        "select pgrag.configuration()->'page_types'",
        "GET /v1/configuration",
        "config show",
        shows=("edge_defaults", "retriever_weight")),
    Row("G3", "Every chunk has a public key",
        "select chunk_key from pgrag.search('heading:Einleitung', 'agorum')",
        "GET /v1/search?q=heading:Einleitung&library=agorum",
        "search heading:Einleitung -l agorum --json",
        shows=("agoscript.md#c",)),
    Row("G3", "A chunk is found by its key, which may hold the id of a note",
        "select content from pgrag.find_document('agorum',"
        " '6f9619ff-8b86-d011-b42d-00cf4fc964ff#c3')",
        "GET /v1/documents?library=agorum&chunk_key=agoscript.md%23c3",
        "read agorum agoscript.md#c3",
        shows=("ECMAScript 5.1",),
        hides=("objects",)),
    Row("G3", "A key or a name wherever an id is asked",
        "select heading from pgrag.parent('banking:banking_guide#c4')",
        "GET /v1/documents/banking:banking_guide%23c4/parent",
        "read banking 'banking_guide#c4'",
        shows=("A",)),
    Row("G4", "Typed edges with provenance; each line of a callout has its own kind",
        "select kind, target_page, rule, confidence from pgrag.edges('vault', page_id => $archive,"
        " direction => 'out')",
        "GET /v1/pages/$archive/edges?direction=out",
        "edges vault --page database --json",
        shows=(
            "depends_on",
            "inline:rel",
            "0.95",
            "callout:edge",
            "0.9",
            "supports",
            "values/calm.md",
            "references",
        )),
    Row("G5", "A link to a page that is not there yet is listed",
        "select target, state from pgrag.edges('vault', states => '{unresolved}')",
        "GET /v1/libraries/vault/links?state=unresolved",
        "links vault --state unresolved --json",
        shows=("attic plan", "unresolved"),
        hides=("budget.md",)),
    Row("G6", "The score of the graph: meaning, edges, centrality, types",
        "select explanation->'graph' from pgrag.search('archive', 'vault', graph => true,"
        " explain => true)",
        "GET /v1/search?q=archive&library=vault&graph=true&explain=true",
        "search archive -l vault --graph --explain --json",
        shows=("edge", "centrality")),
    Row("G7", "The pages around a page, to any depth",
        "select key, depth, kind from pgrag.neighbourhood($budget, depth => 2)",
        "GET /v1/pages/$budget/neighbourhood?depth=2",
        "neighbourhood vault budget --depth 2 --json",
        shows=("database.md", "backup.md", "depends_on")),
    Row("G8", "Reasons in words, and the edges in and out",
        "select explanation, reasons from"
        " pgrag.explain_search('archive', 'vault', options => '{\"graph\": true}')",
        "GET /v1/search?q=archive&library=vault&graph=true&explain=true",
        "search archive -l vault --graph --explain --json",
        shows=("edges_in", "edges_out", "depends_on", "Links to 4 of the 7 best pages")),
    Row("G9", "The words of a question choose a strategy; its types are injected",
        "select sources from"
        " pgrag.answer_context('should we choose a database to scan letters or to repair', 'vault',"
        " top_k => 1, expand => false)",
        'POST /v1/answer {"question": "should we choose a database to scan letters or to repair",'
        ' "library": "vault", "top_k": 1, "expand": false}',
        "answer 'should we choose a database to scan letters or to repair' -l vault -n 1"
        " --no-expand --json",
        shows=("injected", "values/calm.md", "goals/paperless.md")),
    Row("G10", "An answer with its sources and its intent",
        "select sources, messages, intent from"
        " pgrag.answer_context('who restores the archive', 'vault')",
        'POST /v1/answer {"question": "who restores the archive", "library": "vault"}',
        "answer 'who restores the archive' -l vault --json",
        shows=("backup.md", "SEMANTIC", "restores the archive")),
    Row("G11", "A recorded search is explained later, with the parts of the graph",
        "select pgrag.search_record('$recorded')",
        "GET /v1/searches/$recorded",
        "searches show $recorded --json",
        shows=("archive", "database.md", "centrality", "type_weight")),
    Row("G12", "The state of a library is checked",
        "select 'findings', coalesce(jsonb_agg(c), '[]') from pgrag.check_library('vault') as c",
        "GET /v1/libraries/vault/health",
        "doctor vault --json",
        shows=("[]",)),
    Row("G14", "Edges are searched by meaning",
        "select kind, source_page, target_page from"
        " pgrag.search_edges('line in the budget', 'vault')",
        "GET /v1/edges/search?q=line in the budget&library=vault",
        "edges vault 'line in the budget' --json",
        shows=("database.md", "budget.md")),
    Row("H1", "The tree of headings: depth, position, parent, root",
        "select heading, depth, position, root_section from pgrag.outline($guide)",
        "GET /v1/pages/$guide/outline",
        "outline banking banking_guide --json",
        shows=("Countries Outside SEPA", "intro", "middle", "conclusion")),
    Row("H2", "A section below the title is a root: root_section, depth_min=2, depth_max=4",
        "select heading from pgrag.search('account', 'banking', top_k => 20, filters =>"
        ' \'{"root_section": "Account Opening", "depth_min": 2, "depth_max": 4}\')',
        'GET /v1/search?q=account&library=banking&top_k=20&filters={"root_section":'
        '"Account Opening","depth_min":2,"depth_max":4}',
        "search account -l banking -n 20 -f 'root_section=Account Opening' -f depth_min=2"
        " -f depth_max=4 --json",
        shows=("Required Documents", "Foreign Companies", "Identity Checks"),
        hides=("Domestic Transfers", "Credit Lines")),
    Row("H2", "A part of the tree filters",
        "select heading from pgrag.search('transfers', 'banking', filters =>"
        ' \'{"section_path": ["Payments", "International Transfers"], "depth_min": 4}\')',
        'GET /v1/search?q=transfers&library=banking&filters={"section_path":["Payments",'
        '"International Transfers"],"depth_min":4}',
        "search transfers -l banking -f 'section_path=Payments > International Transfers'"
        " -f depth_min=4 --json",
        shows=("SEPA Countries", "Countries Outside SEPA"),
        hides=("Domestic Transfers", "Foreign Companies")),
    Row("H3", "Context as breadcrumbs with relevance",
        "select block from"
        " pgrag.context('outside SEPA', 'banking', top_k => 1, format => 'simple')",
        "GET /v1/context?q=outside SEPA&library=banking&top_k=1&format=simple",
        "context 'outside SEPA' -l banking -n 1 --format simple",
        shows=("International Transfers › Countries Outside SEPA", "relevance 0.")),
    Row("H5", "Content tags filter",
        "select facet, value from pgrag.facets('open an account', 'banking')",
        "GET /v1/facets?q=open an account&library=banking",
        "facets 'open an account' -l banking --json",
        shows=("content_tags", "policy")),
    Row("H6", "Breadth or depth of a section",
        "select heading from"
        " pgrag.search('transfers', 'banking', hierarchy => 'depth', top_k => 3)",
        "GET /v1/search?q=transfers&library=banking&hierarchy=depth&top_k=3",
        "search transfers -l banking --hierarchy depth -n 3 --json",
        shows=("Transfers",),
        hides=("Foreign Companies",)),
    Row("H6", "Sections to go on with after an answer",
        "select relation, key from pgrag.related_sections(array(select document_id from"
        " pgrag.search('which database for the archive', 'vault', top_k => 1)))",
        'POST /v1/answer {"question": "which database for the archive", "library": "vault",'
        ' "top_k": 1}',
        "answer 'which database for the archive' -l vault -n 1 --json",
        shows=("link", "reading.md", "values/calm.md")),
    Row("H7", "The banking guide: the ancestors of a section of level four",
        "select heading from pgrag.ancestors($sepa)",
        "GET /v1/documents/$sepa/ancestors",
        "outline banking banking_guide --json",
        shows=("International Transfers", "Payments", "Corporate Banking Guide")),
    Row("V1", "Vector, full text, hybrid",
        "select key from pgrag.semantic_search('await', 'vault', top_k => 1) union all"
        " select key from pgrag.keyword_search('await', 'vault', top_k => 1)",
        "GET /v1/search?q=await&library=vault&mode=keyword&top_k=1",
        "search await -l vault --keyword -n 1 --json",
        shows=("reading.md",)),
    Row("V2", "Filters in the query: tags:a b, type:x, created:>=…",
        "select key from pgrag.search('tags:python async created:>=2024-12-01 AND type:article',"
        " 'vault')",
        "GET /v1/search?q=tags:python async created:>=2024-12-01 AND type:article&library=vault",
        "search 'tags:python async created:>=2024-12-01 AND type:article' -l vault --json",
        shows=("reading.md",),
        hides=("decorators.md",)),
    Row("V2", "Filters in the query: links:note, #tag, NOT",
        "select key from pgrag.search('links:budget #archive NOT type:concept', 'vault')",
        "GET /v1/search?q=links:budget %23archive NOT type:concept&library=vault",
        "search 'links:budget #archive NOT type:concept' -l vault --json",
        shows=("database.md",),
        hides=("backup.md",)),
    Row("V3", "What kind of question this is, with confidence",
        "select intent, confidence from pgrag.detect_intent('tags:python created:>=2024-12-01')",
        "GET /v1/intent?q=tags:python created:>=2024-12-01",
        "intent 'tags:python created:>=2024-12-01' --json",
        shows=("METADATA_FILTER",)),
    Row("V3", "The id of a person is a known item",
        "select intent, unit from pgrag.detect_intent('amuratov')",
        "GET /v1/intent?q=amuratov",
        "intent amuratov --json",
        shows=("KNOWN_ITEM", "page")),
    Row("V1", "alpha weighs the ranks of rrf",
        "select score from pgrag.search('crawler', 'people', fusion => 'rrf', alpha => 0,"
        " top_k => 1)",
        "GET /v1/search?q=crawler&library=people&fusion=rrf&alpha=0&top_k=1",
        "search crawler -l people --fusion rrf --alpha 0 -n 1 --json",
        shows=("0.032786",)),
    Row("V4", "Hits become pages: max, mean or rrf",
        "select key, passage_count from pgrag.search_pages('transfers', 'banking',"
        ' options => \'{"aggregate": "rrf"}\')',
        "GET /v1/search/pages?q=transfers&library=banking&aggregate=rrf",
        "pages transfers -l banking --aggregate rrf --json",
        shows=("banking_guide.md",)),
    Row("V5", "Exact text and regular expressions over the sources",
        "select key, line, content from"
        " pgrag.search_text('two hundred.*four', 'vault', mode => 'regex')",
        "GET /v1/libraries/vault/text?pattern=two hundred.*four&mode=regex",
        "grep 'two hundred.*four' -l vault --regex",
        shows=("budget.md", "Disks cost two hundred a year")),
    Row("V6", "Tables over properties",
        "select key, fields from"
        " pgrag.query_pages('TABLE effort FROM #archive WHERE effort > 3 SORT effort', 'vault')",
        "GET /v1/libraries/vault/query?q=TABLE effort FROM %23archive WHERE effort > 3 SORT effort",
        "query vault 'TABLE effort FROM #archive WHERE effort > 3 SORT effort'",
        shows=("database", "5"),
        hides=("backup",)),
    Row("V7", "Typed properties of every page",
        "select name, types from pgrag.properties('vault')",
        "GET /v1/libraries/vault/properties",
        "properties vault --json",
        shows=("effort", "number", "created", "date")),
    Row("V9", "Figures of the searches",
        "select to_json(m) from pgrag.search_metrics(period => 'all') as m",
        "GET /v1/metrics/searches?period=all",
        "metrics searches --period all --json",
        shows=("p95_ms", "mean_top_score")),
    Row("V11", "Wrong letters are put right",
        "select suggestion from pgrag.suggest('corutine', 'vault')",
        "GET /v1/suggestions?q=corutine&library=vault",
        "suggest corutine -l vault",
        shows=("coroutine",)),
    Row("V11", "Many queries at once; unlike hits first",
        "select query_number, key from pgrag.search_many('{await, budget}', 'vault',"
        " options => '{\"mmr_lambda\": 0.7}')",
        'POST /v1/search/batch {"queries": [{"query": "await", "library": "vault"},'
        ' {"query": "budget", "library": "vault", "mmr_lambda": 0.7}]}',
        shows=("reading.md", "budget.md")),
    Row("B1", "Hybrid search with nothing but PostgreSQL",
        "select semantic_score is not null, key from"
        " pgrag.search('waking up at night', 'vault', top_k => 3)",
        shows=("values/calm.md", "true")),
    Row("B5", "A version is chosen, with the reason",
        "select version, reason from pgrag.resolve_version('kestrel', '^1')",
        "GET /v1/resolve?library=kestrel&version=^1",
        "resolve kestrel ^1",
        shows=("1.4", "the newest version in the range")),
    Row("B5", "A version that is not indexed is read in its minor, else in its major",
        "select version, reason from pgrag.resolve_version('kestrel', '1.2.0')",
        "GET /v1/resolve?library=kestrel&version=1.2.0",
        "resolve kestrel 1.2.0",
        shows=("1.4", "1.2.0 is not indexed; the nearest version above it, of the same major")),
    Row("B5", "What changed between two versions",
        "select change, key from pgrag.compare_versions('kestrel', '1.4', '2.0')",
        "GET /v1/libraries/kestrel/changes?from_version=1.4&to_version=2.0",
        "compare kestrel 1.4 2.0 --json",
        shows=("added", "guide/restore.md", "changed", "guide/install.md")),
    Row("B7", "Every number behind a hit",
        "select reasons from pgrag.explain_search('backup', 'vault')",
        "GET /v1/search?q=backup&library=vault&explain=true",
        "search backup -l vault --explain --json",
        shows=("title",)),
    Row("B9", "A section of one line is found by its own name, and its link leads to it",
        "select heading, url, anchor from pgrag.search('heading:\"SEPA Countries\"', 'banking')",
        'GET /v1/search?q=heading:"SEPA Countries"&library=banking',
        "search 'heading:\"SEPA Countries\"' -l banking --json",
        shows=("SEPA Countries", "sepa-countries")),
]  # fmt: skip

#: What takes a set-up of its own (a model, several runs, a figure): the test that holds it.
ELSEWHERE = [
    ("F9", "Odd paths are told, and the page is indexed",
     "unit/test_properties.py::test_paths_unlike_their_siblings"),
    ("R7", "The reranker decides; the fused score stays",
     "integration/test_reranked_search.py::test_the_reranker_decides_and_both_scores_are_kept"),
    ("R9", "A model's sentence places a chunk, and is never shown",
     "integration/test_enricher.py::test_it_is_asked_once_searched_and_never_shown"),
    ("R10", "Summaries by extraction, or by a model",
     "sql/test_enrichments.py::test_a_summary_is_shown_and_marked_and_the_extract_kept"),
    ("R11", "Late chunking",
     "local/test_real_model.py::test_chunks_are_the_means_of_their_tokens_on_the_page"),
    ("R13", "Chunks never cross a heading",
     "unit/test_chunks.py::test_a_chunk_never_crosses_a_heading"),
    ("G2", "Chunk profiles",
     "unit/test_chunks.py::test_a_profile_changes_the_sizes"),
    ("G13", "Only what changed is written",
     "integration/test_pipeline.py::test_only_what_changed_is_written"),
    ("V8", "Vectors of queries and texts are remembered",
     "sql/test_vector_search.py::test_only_a_known_query_is_searched_by_meaning"),
    ("V10", "Tools for agents, in Markdown",
     "acceptance/test_mcp_processes.py::test_the_guide_is_true"),
    ("B2", "Exact BM25F", "sql/test_keyword_ranking.py::test_the_best_are_those_of_the_formula"),
    ("B4", "Never fewer rows than exist",
     "sql/test_vector_search.py::test_never_fewer_rows_than_exist"),
    ("B6", "A text is embedded once",
     "integration/test_pipeline.py::test_text_is_embedded_once_in_all_versions"),
    ("B12", "The same sources rank the same",
     "sql/test_same_sources.py::test_library_that_grew_ranks_like_a_new_one"),
]  # fmt: skip
