-- Every search function, whichever interface calls it, builds its request here, from one object of
-- arguments.
create or replace function _pgrag.make_request(
    query text,
    options jsonb,
    query_embedding halfvec default null,
    needs_words boolean default true
)
returns _pgrag.search_request
language plpgsql
stable
parallel safe
as $$
declare
    version constant text := options ->> 'version';
    library constant text := options ->> 'library';
    alpha constant double precision := (options ->> 'alpha')::double precision;
    own_filters constant jsonb := nullif(options -> 'filters', 'null');
    asked record;
    parsed record;
    scope record;
    typed text;
    meant record;
    understood record;
    request _pgrag.search_request;
    version_label text;
    notes text[];
    filters jsonb;
    original_terms pgrag.query_term[];
    lacking text[];
    mode constant text := coalesce(options ->> 'mode', 'hybrid');
begin
    if needs_words and coalesce(query, '') !~ '\S' then
        raise exception 'The query is empty.' using errcode = 'PGR01';
    end if;
    asked := pgrag.parse_query(query);
    parsed := _pgrag.parse_search_text(asked.words);
    if needs_words and parsed.words !~ '\S' and asked.filters is null then
        raise exception 'The query % has no words to search for.', quote_nullable(left(query, 100))
            using errcode = 'PGR01',
                hint = 'Give at least one word that is not excluded by "-", or a filter.';
    end if;
    version_label := _pgrag.wanted_version(library, version, own_filters, asked.filters);
    scope := _pgrag.request_scope(
        asked.words,
        _pgrag.wanted_libraries(library, own_filters, asked.filters),
        version_label, nullif(options -> 'dependencies', 'null')
    );
    -- As models outside of the database embed it, which know no library.
    typed := parsed.words;
    notes := coalesce(scope.notes, '{}');
    if strpos(asked.words, ':') > 0 then
        meant := _pgrag.meant_filters(scope.library_ids, scope.version_ids, asked.words);
        notes := notes || meant.notes;
        if meant.filters is not null then
            asked.words := meant.words;
            asked.filters := _pgrag.conjunction(asked.filters, meant.filters);
            parsed := _pgrag.parse_search_text(asked.words);
        end if;
    end if;
    -- Here and below: what most searches do not need is not called, nor compiled in their session.
    if num_nonnulls(own_filters, asked.filters) > 0 then
        filters := _pgrag.conjunction(own_filters, asked.filters);
    end if;

    request := _pgrag.settled_arguments(query, parsed.words, options, scope.settings);
    request.query_filters := asked.filters;
    request.is_phrase := parsed.is_phrase;
    request.version_reasons := scope.version_reasons;
    request.exact_limit := scope.exact_limit;
    request.version_notes := scope.notes;
    if asked.filters is not null then
        notes := notes || array(
            select n
            from _pgrag.unknown_tags(scope.library_ids, scope.version_ids, asked.filters) as n
        );
    end if;
    request.target := _pgrag.make_target(
        scope.library_ids, scope.version_ids, scope.document_count,
        version_label is not distinct from '*',
        case
            when num_nulls(options ->> 'levels', request.intent) = 2 then 6
            else _pgrag.level_mask(options, request.intent)
        end,
        filters, parsed.required, parsed.excluded, scope.own_index_ids, request.unit
    );
    if num_nonnulls(options ->> 'changed_since', options ->> 'exclude') > 0 then
        request.target := _pgrag.target_without(request.target, options);
    end if;
    if filters is not null then
        notes := notes || array(
            select n from _pgrag.unknown_values(request.target, filters) as n
        );
    end if;
    request.notes := notes;
    if request.words = '' then
        perform _pgrag.tell(request.notes);
        return request;
    end if;
    if cardinality(parsed.phrases) > 0 then
        select array_agg(p.language), array_agg(p.condition)
        into request.phrase_languages, request.phrase_conditions
        from _pgrag.ranking_phrases(scope.library_ids, parsed.phrases) as p;
    end if;

    understood := _pgrag.understood_words(
        query, asked.words, parsed.words, scope.wishes, scope.libraries, request.prefix
    );
    parsed.words := understood.words;
    request.read_words := understood.words;
    original_terms := understood.terms;
    request.notes := request.notes || understood.notes;
    if cardinality(scope.named_ids) > 0 then
        lacking := array(
            select n.note
            from unnest(scope.named_ids) as v (id)
            cross join lateral _pgrag.lacking_words(parsed.words, original_terms, v.id) as n (note)
        );
        request.version_notes := request.version_notes || lacking;
        request.notes := request.notes || lacking;
    end if;
    if cardinality(request.notes) > 0 then
        perform _pgrag.tell(request.notes);
    end if;
    if cardinality(parsed.required) > 0 and (mode = 'keyword' or alpha = 0)
        and _pgrag.has_wordless_language(scope.library_ids, original_terms)
    then
        -- A phrase of stop words has nothing to rank by words.
        request.words := '';
        return request;
    end if;
    request.terms := case
        when understood.guesses is null then original_terms
        else _pgrag.guessed_terms(original_terms, understood.guesses)
    end;
    if request.query_expansion <> 'none' then
        perform _pgrag.note_no_synonyms(scope.library_ids, options ->> 'query_expansion');
        request.terms := _pgrag.expand_terms(
            request.terms, request.target, parsed.words, request.query_expansion
        );
    end if;
    if understood.begun is not null then
        request.terms := _pgrag.with_beginnings(
            request.terms, understood.begun, scope.libraries
        );
        original_terms := original_terms || _pgrag.best_of_others(original_terms, request.terms);
    end if;
    request.queries := _pgrag.library_queries(
        parsed.words, typed, scope.libraries, original_terms, request.terms,
        -- A single retriever has the whole score.
        case mode when 'keyword' then 0 when 'semantic' then 1 else alpha end,
        (options ->> 'page_evidence')::double precision, options ->> 'model', query_embedding,
        request.intent,
        -- A search by vectors alone reads no page.
        case when mode <> 'semantic' then _pgrag.type_weights(query, filters) end,
        case
            when mode <> 'semantic'
            then _pgrag.query_language(parsed.words, original_terms, filters)
        end
    );
    return request;
end;
$$;

-- Bit n is level n: those that the caller asks for, else the intent, else sections and paragraphs.
create or replace function _pgrag.level_mask(
    options jsonb,
    intent jsonb
)
returns integer
language plpgsql
immutable
parallel safe
as $$
declare
    levels constant jsonb := coalesce(
        nullif(options -> 'levels', 'null'), nullif(intent -> 'levels', '[]'), 'null'
    );
begin
    if levels = 'null' then
        return 6;
    end if;
    return (
        select bit_or(1 << l.level::integer)
        from jsonb_array_elements_text(levels) as l (level)
    );
end;
$$;

-- The target without what has not changed and what the caller excludes.
create or replace function _pgrag.target_without(
    target _pgrag.search_target,
    options jsonb
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
as $$
begin
    if options ->> 'changed_since' is not null then
        target := _pgrag.changed_target(target, options ->> 'changed_since');
    end if;
    if options ->> 'exclude' is not null then
        target.denied_documents := target.denied_documents || _pgrag.excluded_documents(
            array(select jsonb_array_elements_text(options -> 'exclude')), target.version_ids
        );
    end if;
    return target;
end;
$$;

create or replace function _pgrag.note_no_synonyms(
    library_ids bigint[],
    wanted text
)
returns void
language plpgsql
stable
parallel safe
as $$
begin
    if wanted in ('synonyms', 'both') and not exists (
        select from pgrag.synonyms as s where s.library_id = any (note_no_synonyms.library_ids)
    )
    then
        raise notice 'query_expansion=% adds no synonyms: the library has none.', wanted
            using hint = 'pgrag.set_synonyms gives it some.';
    end if;
end;
$$;

-- Each note as a notice.
create or replace function _pgrag.tell(
    notes text[]
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    note text;
begin
    foreach note in array coalesce(notes, '{}') loop
        raise notice '%', note;
    end loop;
end;
$$;

-- The libraries and versions to search, and the settings on which the libraries agree: a missing
-- setting counts as the default. named_ids: versions that the caller or the words name.
create or replace function _pgrag.request_scope(
    words text,
    library_names text[],
    version_label text,
    dependencies jsonb,
    out library_ids bigint[],
    out libraries pgrag.libraries[],
    out version_ids bigint[],
    out version_reasons text[],
    out document_count bigint,
    out own_index_ids bigint[],
    out exact_limit integer,
    out settings jsonb,
    out named_ids bigint[],
    out wishes text[],
    out notes text[]
)
language plpgsql
stable
parallel safe
as $$
declare
    have_settings boolean;
begin
    select
        coalesce(array_agg(distinct (s.library).library_id), '{}'),
        -- Not distinct ones: for rows to be compared, each of their types is looked up.
        array_agg(s.library order by (s.library).library_id) filter (where s.nth_of_library = 1),
        coalesce(array_agg(s.version_id order by s.place), '{}'),
        array_agg(s.reason order by s.place),
        coalesce(sum(s.document_count), 0)::bigint,
        array_agg(distinct (s.library).library_id) filter (where (s.library).own_vector_index),
        min(_pgrag.setting((s.library).settings, 'exact_limit')::integer),
        bool_or((s.library).settings <> '{}')
    into
        library_ids, libraries, version_ids, version_reasons, document_count, own_index_ids,
        exact_limit, have_settings
    from _pgrag.versions_in_scope(library_names, version_label) as s;
    if cardinality(library_ids) < cardinality(library_names) then
        perform _pgrag.check_versions(library_names, version_label);
    end if;
    settings := '{"intent": "off", "query_expansion": "none", "aggregate": "max", "graph": {}}';
    if have_settings then
        settings := (
            select jsonb_object_agg(a.name, a.value)
            from (
                select s.name, (array_agg(s.value))[1] as value
                from (
                    select d.name, coalesce(nullif(l.settings -> d.name, 'null'), d.value) as value
                    from unnest(libraries) as l
                    cross join jsonb_each(request_scope.settings) as d (name, value)
                ) as s
                group by s.name
                having count(distinct s.value) = 1
            ) as a
        );
    end if;

    -- Explicit versions win, then those of the words, then the project's.
    if version_label is null then
        if dependencies is not null then
            select p.version_ids, p.version_reasons, p.pinned_ids
            into version_ids, version_reasons, named_ids
            from _pgrag.with_pinned_versions(dependencies, version_ids, version_reasons) as p;
        end if;
        -- Most queries have nothing that could name one.
        if translate(words, '0123456789@', '') <> words or strpos(lower(words), 'version') > 0 then
            select
                n.version_ids, n.version_reasons, n.wishes, n.notes,
                array(
                    select id
                    from unnest(n.named_ids || request_scope.named_ids) as id
                    where id = any (n.version_ids)
                )
            into version_ids, version_reasons, wishes, notes, named_ids
            from _pgrag.with_named_versions(words, version_ids, version_reasons) as n;
        end if;
        if cardinality(named_ids) > 0 then
            document_count := (
                select sum(v.document_count)
                from pgrag.versions as v
                where v.library_id = any (library_ids) and v.version_id = any (version_ids)
            );
        end if;
    elsif version_label <> '*' and cardinality(version_ids) = 1 then
        named_ids := version_ids;
    end if;
end;
$$;
