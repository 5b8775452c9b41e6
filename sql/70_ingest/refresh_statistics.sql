-- The impacts hold the average length that they were made with. When the library has drifted away
-- from it, or its weights change, everything is made anew from the full-text vectors.
create or replace function pgrag.refresh_statistics(
    library text,
    drift double precision default 0.1
)
returns boolean
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    -- Not in the query below: where the table is empty, it would be asked for nothing.
    owner_id bigint := pgrag._library_id(refresh_statistics.library);
    owner record;
begin
    select l.library_id, pgrag.effective_settings(l.settings) as settings
    into owner
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;

    if not exists (
        select
        from pgrag.corpus_statistics as c
        where c.library_id = owner.library_id
            and c.document_count > 0
            and (
                abs(c.total_length / c.document_count - c.average_length)
                    >= refresh_statistics.drift * c.average_length
                -- The lengths of pages vary more, and weigh less.
                or (
                    c.page_count > 0
                    and abs(c.total_page_length / c.page_count - c.average_page_length)
                        >= 4 * refresh_statistics.drift * c.average_page_length
                )
            )
    ) and not pgrag._lacks_title_weights(owner.library_id) then
        return false;
    end if;
    perform pgrag._rebuild_statistics(owner.library_id, owner.settings);
    return true;
end;
$$;

comment on function pgrag.refresh_statistics(text, double precision) is
'Rewrites the impacts, counts and averages of a library from its full-text vectors where the average
length of its documents or pages has moved away from the one in use by more than the share drift
(0: in any case), or where they are from before titles had a share; returns whether it did. Scores
are exact before and after; the averages differ. Errors: PGR02.';

-- Whether there are pages from before titles had a share: their impacts have other weights, too.
create or replace function pgrag._lacks_title_weights(
    library_id bigint
)
returns boolean
language sql
stable
parallel safe
set search_path from current
as $$
    select exists (
        select
        from pgrag.pages as p
        where p.library_id = _lacks_title_weights.library_id
            and p.title_weights is null
            and p.weights is not null
            -- A title of stop words has none, and never will.
            and pgrag._title_vector(array[p.language], p.title) is not null
    );
$$;

create or replace function pgrag._rebuild_statistics(
    library_id bigint,
    settings jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    batch bigint[];
begin
    delete from pgrag.lexeme_statistics as s where s.library_id = _rebuild_statistics.library_id;
    delete from pgrag.corpus_statistics as c where c.library_id = _rebuild_statistics.library_id;
    insert into pgrag.corpus_statistics (
        library_id, language, average_length, average_page_length
    )
    select
        _rebuild_statistics.library_id,
        d.language,
        avg(d.length),
        coalesce(sum(d.content_length) filter (where d.level = 2), 0)
            / greatest(count(distinct d.page_id) filter (where d.level = 2), 1)
            + coalesce(avg(d.header_length) filter (where d.level = 2), 0)
    from (
        select
            d.language,
            d.page_id,
            d.level,
            d.document_id,
            sum(t.header_frequency) as header_length,
            sum(t.content_frequency) as content_length,
            sum(t.header_frequency + t.content_frequency) as length
        from pgrag.documents as d
        cross join lateral pgrag.term_frequencies(
            d.search, pgrag._field_weights(_rebuild_statistics.settings)
        ) as t
        where d.library_id = _rebuild_statistics.library_id
        group by d.language, d.page_id, d.level, d.document_id
    ) as d
    group by d.language;

    for batch in
        select array_agg(p.page_id)
        from (
            select p.page_id, (row_number() over (order by p.page_id) - 1) / 500 as number
            from pgrag.pages as p
            where p.library_id = _rebuild_statistics.library_id
        ) as p
        group by p.number
        order by p.number
    loop
        perform pgrag._write_documents(
            _rebuild_statistics.library_id,
            array(
                select d
                from pgrag.documents as d
                where d.library_id = _rebuild_statistics.library_id and d.page_id = any (batch)
            ),
            array(
                select d.document_id
                from pgrag.documents as d
                where d.library_id = _rebuild_statistics.library_id and d.page_id = any (batch)
            ),
            _rebuild_statistics.settings
        );
        perform pgrag._rank_pages(
            _rebuild_statistics.library_id, batch, _rebuild_statistics.settings
        );
    end loop;
end;
$$;

-- Settings that shape the impacts bring them along in the same transaction.
create or replace function pgrag.configure_library(
    library text,
    settings jsonb
)
returns jsonb
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(configure_library.library);
    before jsonb;
    after jsonb;
    unknown text;
begin
    select string_agg(k, ', ')
    into unknown
    from jsonb_object_keys(configure_library.settings) as k
    where not pgrag.default_settings() ? k;
    if unknown is not null then
        raise exception 'There is no library setting %.', unknown
            using errcode = 'PGR01',
                hint = 'Settings: ' || (
                    select string_agg(k, ', ' order by k)
                    from jsonb_object_keys(pgrag.default_settings()) as k
                ) || '.';
    end if;
    if jsonb_typeof(configure_library.settings -> 'field_weights') not in ('object', 'null') then
        raise exception 'field_weights must be an object, got %.',
            configure_library.settings -> 'field_weights'
            using errcode = 'PGR01', hint = 'For example {"field_weights": {"title": 4}}.';
    end if;
    if jsonb_typeof(configure_library.settings -> 'graph') not in ('object', 'null') then
        raise exception 'graph must be an object, got %.', configure_library.settings -> 'graph'
            using errcode = 'PGR01', hint = 'For example {"graph": {"search": true}}.';
    end if;
    select pgrag.effective_settings(l.settings)
    into before
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    update pgrag.libraries as l
    set settings = jsonb_strip_nulls(
        l.settings || configure_library.settings
        || case
            when jsonb_typeof(configure_library.settings -> 'field_weights') = 'object'
            then jsonb_build_object(
                'field_weights',
                coalesce(l.settings -> 'field_weights', '{}')
                    || (configure_library.settings -> 'field_weights')
            )
            else '{}'
        end
        || case
            when jsonb_typeof(configure_library.settings -> 'graph') = 'object'
            then jsonb_build_object(
                'graph',
                coalesce(l.settings -> 'graph', '{}') || (configure_library.settings -> 'graph')
            )
            else '{}'
        end
    )
    where l.library_id = owner_id
    returning pgrag.effective_settings(l.settings) into after;
    perform pgrag._check_settings(after);

    if (before - pgrag._query_settings()) <> (after - pgrag._query_settings()) then
        perform pgrag._rebuild_statistics(owner_id, after);
    end if;
    if before -> 'anchor_texts' <> after -> 'anchor_texts' then
        perform pgrag.refresh_anchor_texts(configure_library.library);
    end if;
    return (
        select r.settings
        from pgrag.libraries() as r
        where r.library = lower(btrim(configure_library.library))
    );
end;
$$;

comment on function pgrag.configure_library(text, jsonb) is
'Changes retrieval settings of a library (see default_settings; null takes one back to its default,
and so for a single field weight or part of graph) and returns those now in force. Changed field
weights, k1 or b rewrite the library''s impacts in the same transaction, and so does anchor_texts
the documents that carry the words of links. Errors: PGR01, naming the
setting, and PGR02.';

-- What is looked at when a query comes: nothing that is stored depends on it.
create or replace function pgrag._query_settings()
returns text[]
language sql
immutable
parallel safe
as $$
    select '{alpha, page_evidence, title_evidence, exact_limit, intent, query_expansion, graph,
        edge_vectors, anchor_texts, enrichment}'::text[];
$$;

-- Refused here, where somebody can mend it, and not in every search from now on.
create or replace function pgrag._check_settings(
    settings jsonb
)
returns void
language plpgsql
immutable
parallel safe
set search_path from current
as $$
declare
    complaint text;
begin
    select format('%s must be %s, got %s.', c.name, c.wanted, c.value)
    into complaint
    from (
        select s.key as name, s.value, w.lowest, w.highest, w.wanted
        from jsonb_each(
            settings - '{field_weights, intent, query_expansion, graph, edge_vectors,
                anchor_texts, enrichment}'::text[]
        ) as s
        join (values
            ('alpha', 0, 1, 'a number from 0 to 1'),
            ('page_evidence', 0, 1, 'a number from 0 to 1'),
            ('title_evidence', 0, 1, 'a number from 0 to 1'),
            ('b', 0, 1, 'a number from 0 to 1'),
            ('k1', 0, 100, 'a number from 0 to 100'),
            ('exact_limit', 0, 10000000, 'a whole number from 0 to 10000000')
        ) as w (name, lowest, highest, wanted) on w.name = s.key
        union all
        select
            'field_weights.' || s.key, s.value,
            case when s.key in ('title', 'path', 'url', 'content') then 0 end, 1000,
            'the weight of title, path, url or content, from 0 to 1000'
        from jsonb_each(
            case
                when jsonb_typeof(settings -> 'field_weights') = 'object'
                then settings -> 'field_weights'
            end
        ) as s
        union all
        select
            'graph.' || s.key, s.value, w.lowest, w.highest,
            coalesce(w.wanted, 'search or one of the numbers of default_settings')
        from jsonb_each(
            case
                when jsonb_typeof(settings -> 'graph') = 'object' then (settings -> 'graph')
            end
        ) as s
        left join (values
            ('depth', 1, 3, 'a whole number from 1 to 3'),
            ('seeds', 1, 50, 'a whole number from 1 to 50'),
            ('fan_out', 1, 200, 'a whole number from 1 to 200'),
            ('total', 1, 1000, 'a whole number from 1 to 1000'),
            ('admitted', 0, 100, 'a whole number from 0 to 100'),
            ('semantic_weight', 0, 10, 'a number from 0 to 10'),
            ('edge_weight', 0, 10, 'a number from 0 to 10'),
            ('centrality_weight', 0, 10, 'a number from 0 to 10'),
            ('hub_share', 0, 1, 'a number from 0 to 1')
        ) as w (name, lowest, highest, wanted) on w.name = s.key
        where s.key <> 'search'
        union all
        select 'anchor_texts', settings -> 'anchor_texts', null, null, 'true or false'
        where jsonb_typeof(settings -> 'anchor_texts') <> 'boolean'
        union all
        select
            'enrichment', settings -> 'enrichment', null, null,
            'off, context, summaries or context,summaries'
        where jsonb_typeof(settings -> 'enrichment') <> 'string'
            or settings ->> 'enrichment' !~ '^(off|context|summaries|context,summaries)$'
        union all
        select 'graph.search', settings #> '{graph,search}', null, null, 'true or false'
        where jsonb_typeof(settings #> '{graph,search}') <> 'boolean'
    ) as c
    where case
        when jsonb_typeof(c.value) <> 'number' or c.lowest is null then true
        when c.wanted like 'a whole number%' and c.value::numeric % 1 <> 0 then true
        else c.value::numeric not between c.lowest and c.highest
    end
    order by c.name
    limit 1;
    if complaint is not null then
        raise exception '%', complaint using errcode = 'PGR01';
    end if;
    if jsonb_typeof(settings -> 'edge_vectors') <> 'boolean' then
        raise exception 'edge_vectors must be true or false, got %.', settings -> 'edge_vectors'
            using errcode = 'PGR01';
    end if;
    perform pgrag._check_order(null, null, null, null, settings ->> 'query_expansion');
    perform pgrag._strategy('', settings ->> 'intent');
end;
$$;
