-- Resolves everything that narrows a search to ids, once. Both retrievers use the same lists, and
-- the number of passages decides between the exact scan and the HNSW index.
create or replace function _pgrag.make_target(
    library_ids bigint[],
    version_ids bigint[],
    document_count bigint,
    every_version boolean,
    covers integer,
    filters jsonb,
    required text[],
    excluded text[],
    own_index_ids bigint[],
    unit text default 'document'
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
as $$
declare
    target _pgrag.search_target;
    matching bigint[];
    -- For pages, a word must be anywhere on the page. A phrase, and a word with signs, which is
    -- compared as one, or has several lexemes, must always be in one passage.
    page_words text[] := case
        when unit = 'page'
        then array(
            select r
            from unnest(required) as r
            where r ~ '^[[:alnum:]]+$' and not _pgrag.has_bigrams(r)
        )
    end;
begin
    target.library_ids := library_ids;
    target.version_ids := version_ids;
    target.document_count := document_count;
    target.covers := covers;
    target.own_index_ids := own_index_ids;
    target.scope := case
        when every_version
        then '(''@l' || nullif(array_to_string(library_ids, ''' | ''@l'), '') || ''')'
        else '(''@v' || nullif(array_to_string(version_ids, ''' | ''@v'), '') || ''')'
    end;
    if filters is not null then
        target := _pgrag.filtered_target(target, filters);
    end if;

    -- Required and excluded phrases and words, by the full-text indexes.
    if required <> '{}' then
        matching := _pgrag.ids_matching(
            target,
            array(select r from unnest(required) as r where r = any (page_words) is not true),
            ' & '
        );
        target.allowed_documents := case
            when target.allowed_documents is null or matching is null
            then coalesce(matching, target.allowed_documents)
            else array(select unnest(target.allowed_documents) intersect select unnest(matching))
        end;
    end if;
    if page_words <> '{}' then
        matching := _pgrag.ids_matching(target, page_words, ' & ', of_pages => true);
        if target.allowed_documents is not null and matching is not null then
            target.allowed_documents := array(
                select d.document_id
                from pgrag.documents as d
                where d.library_id = any (target.library_ids)
                    and d.document_id = any (target.allowed_documents)
                    and d.page_id in (select p.id from unnest(matching) as p (id))
            );
        elsif matching is not null then
            if target.allowed_pages is not null then
                matching := array(
                    select unnest(matching) intersect select unnest(target.allowed_pages)
                );
            end if;
            select coalesce(array_agg(p.page_id), '{}'), coalesce(sum(p.document_count), 0)
            into target.allowed_pages, target.document_count
            from pgrag.pages as p
            where p.library_id = any (target.library_ids) and p.page_id = any (matching);
        end if;
    end if;
    if cardinality(excluded) > 0 then
        target.denied_documents := _pgrag.ids_matching(target, excluded, ' | ');
    end if;
    if target.allowed_documents is not null then
        target.document_count := least(
            target.document_count, cardinality(target.allowed_documents)
        );
    end if;
    return target;
end;
$$;

create or replace function _pgrag.filtered_target(
    target _pgrag.search_target,
    filters jsonb
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
-- A date without a time zone means the same day in every session and in the index.
set timezone = 'UTC'
as $$
declare
    predicate constant text := pgrag.filter_predicate(filters);
begin
    -- Names a column of documents? Literals are removed first, because a value may contain "d.".
    if regexp_replace(predicate, '''(?:[^'']|'''')*''', '', 'g') ~ '\md\.' then
        execute format(
            $sql$
            select coalesce(array_agg(d.document_id), '{}')
            from pgrag.pages as p
            join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
            where p.library_id = any ($1) and p.version_id = any ($2) and d.covers & $3 <> 0 and %s
            $sql$,
            predicate
        )
        into target.allowed_documents
        using target.library_ids, target.version_ids, target.covers;
    elsif predicate <> 'true' then
        execute format(
            $sql$
            select coalesce(array_agg(p.page_id), '{}'), coalesce(sum(p.document_count), 0)
            from pgrag.pages as p
            where p.library_id = any ($1)
                and p.version_id = any ($2)
                -- The predicate of the index on types, true for all pages.
                and p.document_count >= 0
                and %s
            $sql$,
            predicate
        )
        into target.allowed_pages, target.document_count
        using target.library_ids, target.version_ids;
    end if;
    return target;
end;
$$;

-- Ids of the passages, or pages, that have all (&) or some (|) of the phrases, in their text or in
-- the headings above it. The index has no stop words: phrases with them are compared with the text.
-- Null if the phrases have no words, or are a single word that is a stop word in every language:
-- they are then no condition.
create or replace function _pgrag.ids_matching(
    target _pgrag.search_target,
    phrases text[],
    connective text,
    of_pages boolean default false
)
returns bigint[]
language plpgsql
stable
parallel safe
as $$
declare
    matching bigint[];
begin
    with conditions as materialized (
        select
            p.language,
            concat_ws(
                ' & ',
                (target).scope,
                '(' || string_agg('(' || p.indexed || ')', connective) || ')'
            )::tsquery as indexed,
            count(p.indexed) > 0 as is_indexed,
            array_agg(p.exact::tsquery) filter (where p.pattern is not null) as exact,
            array_agg(p.pattern) filter (where p.pattern is not null) as patterns
        from (
            select
                c.language, phrase.nth, p.*,
                phrase.content !~ '\S\s+\S'
                    and bool_and(p.indexed is null) over (partition by phrase.nth) as is_stop_word
            from (
                select distinct s.language
                from pgrag.corpus_statistics as s
                where s.library_id = any ((target).library_ids)
            ) as c
            cross join unnest(phrases) with ordinality as phrase (content, nth)
            cross join lateral _pgrag.phrase_conditions(c.language, phrase.content) as p
        ) as p
        where case when of_pages then p.indexed else p.exact end is not null and not p.is_stop_word
        group by
            p.language, case when connective = ' | ' and p.pattern is not null then p.nth end
    )
    select array_agg(m.id)
    into matching
    from conditions as c
    left join lateral unnest(
        case
            when of_pages then _pgrag.pages_with(c.indexed, c.language)
            when c.exact is null then _pgrag.documents_with(c.indexed, c.language)
            else _pgrag.documents_saying(
                target,
                c.language,
                case when c.is_indexed then _pgrag.documents_with(c.indexed, c.language) end,
                c.exact,
                c.patterns
            )
        end
    ) as m (id) on true;
    return array_remove(matching, null);
end;
$$;

-- A phrase as a query of the index, as one of the text with its stop words, and, if it has such, an
-- expression that finds most texts without them. Names with signs must be somewhere in the passage.
create or replace function _pgrag.phrase_conditions(
    language text,
    phrase text,
    out indexed text,
    out exact text,
    out pattern text
)
language plpgsql
stable
parallel safe
set client_min_messages = 'error'
as $$
declare
    normal constant text := _pgrag.normal_text(_pgrag.plain_text(phrase));
    prepared constant text := _pgrag.parsed_text(normal);
    names text;
begin
    with words as (
        select
            w.position,
            _pgrag.tsquery_lexeme(w.lexeme) as exact,
            '(' || s.alternatives || ')' as indexed,
            w.position - lag(w.position) over (order by w.position) as distance,
            w.position - lag(w.position) over (
                partition by s.alternatives is null order by w.position
            ) as distance_of_kind,
            w.position - row_number() over (
                partition by s.alternatives is null order by w.position
            ) as run,
            regexp_replace(w.lexeme, '[^\w]', '\\\&', 'g') as written
        from (
            select t.lexeme, p.position
            from unnest(to_tsvector('simple', prepared)) as t
            cross join lateral unnest(t.positions) as p (position)
        ) as w
        left join (
            select p.position, string_agg(_pgrag.tsquery_lexeme(t.lexeme), ' | ') as alternatives
            from unnest(_pgrag.text_vector(phrase_conditions.language, prepared)) as t
            cross join lateral unnest(t.positions) as p (position)
            group by p.position
        ) as s on s.position = w.position
    )
    select
        string_agg(
            coalesce('<' || w.distance_of_kind || '>', '') || w.indexed, ' ' order by w.position
        ),
        string_agg(
            coalesce('<' || w.distance || '>', '') || coalesce(w.indexed, w.exact),
            ' ' order by w.position
        ),
        (
            select '\m' || string_agg(r.written, '[^[:alnum:]]+' order by r.position) || '\M'
            from words as r
            where r.indexed is null
            group by r.run
            order by count(*) desc, r.run
            limit 1
        )
    into indexed, exact, pattern
    from words as w;
    names := (
        select string_agg(_pgrag.tsquery_lexeme(n.lexeme), ' & ')
        from unnest(
            to_tsvector(phrase_conditions.language::regconfig, _pgrag.sign_names(normal))
        ) as n
    );
    if names is not null then
        indexed := concat_ws(' & ', '(' || indexed || ')', names);
        exact := coalesce(exact, names);
    end if;
    if normal ~ '^[[:alpha:]]+-[[:alnum:]]+$' then
        -- e-mail is also written email.
        indexed := (
            select concat_ws(' | ', indexed, string_agg(_pgrag.tsquery_lexeme(j.lexeme), ' | '))
            from unnest(
                _pgrag.text_vector(phrase_conditions.language, replace(normal, '-', ''))
            ) as j
        );
        exact := coalesce(indexed, exact);
        pattern := null;
    end if;
end;
$$;

-- Of the given passages, or of all that are searched, those that have the phrases word by word.
create or replace function _pgrag.documents_saying(
    target _pgrag.search_target,
    language text,
    document_ids bigint[],
    exact tsquery[],
    patterns text[]
)
returns bigint[]
language sql
stable
parallel safe
as $$
    select array(
        select d.document_id
        from pgrag.documents as d
        cross join lateral (
            select _pgrag.plain_text(
                array_to_string(d.path, E'\n\n') || E'\n\n'
                    || _pgrag.searched_text(d.situation, d.context, d.content)
            ) as text
            offset 0
        ) as t
        where d.library_id = any ((documents_saying.target).library_ids)
            and d.version_id = any ((documents_saying.target).version_ids)
            and d.covers > 0
            and d.language = documents_saying.language
            and (
                documents_saying.document_ids is null
                or d.document_id = any (documents_saying.document_ids)
            )
            and t.text ~* all (documents_saying.patterns)
            and _pgrag.exact_vector(d.language, t.text) @@ all (documents_saying.exact)
    );
$$;

-- The words of a text as they are written, beside their lexemes.
create or replace function _pgrag.exact_vector(
    language text,
    input text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select (
        _pgrag.text_vector(exact_vector.language, p.prepared)::text
            || ' ' || to_tsvector('simple', p.prepared)::text
    )::tsvector
    from (
        select _pgrag.parsed_text(_pgrag.normal_text(exact_vector.input)) as prepared offset 0
    ) as p;
$$;
