-- What private functions pass to each other. Types come with the functions, so that a new argument
-- of searches needs no migration.

-- What narrows a search: libraries, versions and pages by id. scope is the same as a tsquery of @l
-- and @v lexemes; covers has bit n for level n; allowed lists are null without a filter.
create type _pgrag.search_target as (
    library_ids bigint[],
    version_ids bigint[],
    scope text,
    covers integer,
    document_count bigint,
    allowed_pages bigint[],
    allowed_documents bigint[],
    denied_documents bigint[],
    own_index_ids bigint[]
);

-- The query as one library compares it: weights of its lexemes, vector, and shares of the score.
create type _pgrag.library_query as (
    library_id bigint,
    model_id bigint,
    is_builtin boolean,
    keywords sparsevec,
    embedding halfvec,
    alpha double precision,
    page_evidence double precision,
    title_keywords sparsevec,
    title_evidence double precision,
    type_weights jsonb,
    language text,
    alpha_share double precision,
    title_share double precision,
    token_weight double precision
);

-- A search with all of its arguments settled: those of the caller, the intent, the library and the
-- defaults, in this order. A new argument is a member here, a line in settled_arguments, and a use.
create type _pgrag.search_request as (
    query text,
    words text,
    -- The words with misspelt ones replaced, as the built-in model embeds them.
    read_words text,
    terms pgrag.query_term[],
    target _pgrag.search_target,
    queries _pgrag.library_query[],
    fusion text,
    rrf_k integer,
    rrf_weights double precision[],
    min_score double precision,
    min_confidence double precision,
    top_k integer,
    max_per_page integer,
    after_score double precision,
    after_id bigint,
    start_depth integer,
    collapse boolean,
    -- For who only counts: summaries that give way, and repeated texts, stay in the list.
    keeps_repeats boolean,
    page_decay double precision,
    page_hits integer,
    candidate_count integer,
    exact_limit integer,
    intent jsonb,
    query_filters jsonb,
    query_expansion text,
    prefix boolean,
    unit text,
    aggregate text,
    hierarchy text,
    mmr_lambda double precision,
    after_place integer,
    graph jsonb,
    version_reasons text[],
    snippets boolean,
    explain boolean,
    history boolean,
    reranked jsonb,
    notes text[],
    -- Those about versions, which a language model is told, too.
    version_notes text[],
    -- Whether it asks for nothing but words and phrases that must occur.
    is_phrase boolean,
    -- The quoted phrases that rank: conditions[n] for passages in languages[n].
    phrase_languages text[],
    phrase_conditions tsquery[]
);

-- What a retriever nominates: document_ids[n] of library_ids[n] with scores[n], the best first.
create type _pgrag.candidates as (
    library_ids bigint[],
    document_ids bigint[],
    scores double precision[],
    plan jsonb
);

-- The best passages that the keyword retriever has scored, with what orders equal scores.
create type _pgrag.best_passages as (
    library_ids bigint[],
    document_ids bigint[],
    scores double precision[],
    reading_orders bigint[],
    text_hashes uuid[]
);

-- A candidate with its scores, before summaries give way. reading_order: by version, then position;
-- length_below: the number of passages below it on the page; keyword_nth and semantic_nth: its
-- place in the lists of the retrievers.
create type _pgrag.scored_candidate as (
    library_id bigint,
    document_id bigint,
    page_id bigint,
    section_id bigint,
    level smallint,
    reading_order bigint,
    length_below integer,
    text_hash uuid,
    content_hash bigint,
    keyword_score double precision,
    semantic_score double precision,
    passage_score double precision,
    page_score double precision,
    keyword_nth bigint,
    semantic_nth bigint,
    keyword_rank integer,
    semantic_rank integer,
    score double precision
);

-- A hit with the parts of its score; see explain_search. steps: its score before each step that
-- gave it a new one, in this order: aggregate, hierarchy, reranked.
create type _pgrag.ranked_hit as (
    library_id bigint,
    document_id bigint,
    page_id bigint,
    score double precision,
    keyword_score double precision,
    semantic_score double precision,
    passage_score double precision,
    page_score double precision,
    keyword_rank integer,
    semantic_rank integer,
    section_score double precision,
    hybrid_score double precision,
    graph jsonb,
    confidence double precision,
    better_on_page integer,
    steps double precision[]
);

-- The pages around the best hits, for a search with links; see _pgrag.surroundings.
create type _pgrag.surroundings as (
    page_ids bigint[],
    shares double precision[],
    reached_ids bigint[],
    via_ids bigint[],
    root_ids bigint[],
    root_shares double precision[]
);

-- What links give to a page; is_new: only links lead there.
create type _pgrag.graph_page as (
    page_id bigint,
    is_new boolean,
    edge_share double precision,
    centrality_share double precision
);

-- Ranked hits, and how far they reach: no candidate that is not listed scores above bound.
create type _pgrag.ranking as (
    hits _pgrag.ranked_hit[],
    listed bigint[],
    bound double precision,
    plans jsonb,
    exhausted boolean,
    timings jsonb
);

-- One page of results, with the cursor behind each hit.
create type _pgrag.listing as (
    hits _pgrag.ranked_hit[],
    plans jsonb,
    cursors text[],
    timings jsonb
);

-- A hit of an evaluated query: target is what judgements name, a page, section or passage.
create type _pgrag.evaluated_hit as (
    query_id text,
    rank integer,
    target text,
    document_id bigint,
    score double precision,
    explanation jsonb
);
