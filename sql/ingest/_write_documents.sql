-- One statement: the terms of the changed documents are counted once for the corpus length, the
-- impacts, the lexeme statistics and the rows. The first documents of a language fix the average
-- length used by the impacts; only _refresh_impacts changes it, when all pages are written. Lengths
-- are summed in double precision: single would round the sum of many, depending on their order. The
-- changed ids are a multirange, because an array is searched from its beginning, for every document
-- of the page.
create or replace function _pgrag.write_documents(
    library_id bigint,
    staged pgrag.documents[],
    changed int8multirange,
    settings jsonb
)
returns void
language sql
volatile
set enable_nestloop = off
set enable_mergejoin = off
set jit = off
as $$
    with terms as materialized (
        select
            s.document_id,
            s.language,
            t.lexeme,
            t.frequency,
            t.content_frequency,
            sum(t.frequency) over (partition by s.document_id) as length
        from unnest(write_documents.staged) as s
        -- "offset 0": the sum of both frequencies is used twice and computed once.
        cross join lateral (
            select
                f.lexeme,
                f.header_frequency + f.content_frequency as frequency,
                f.content_frequency
            from _pgrag.term_frequencies(
                s.search,
                _pgrag.field_weights(write_documents.settings)
            ) as f
            offset 0
        ) as t
        where s.document_id <@ write_documents.changed and s.covers > 0
    ),
    lengths as (
        select
            l.language,
            count(*) as document_count,
            sum(l.length::double precision) as total_length
        from (select distinct t.document_id, t.language, t.length from terms as t) as l
        group by l.language
    ),
    corpora as (
        insert into pgrag.corpus_statistics as c (
            library_id, language, document_count, total_length, average_length, average_page_length
        )
        select
            write_documents.library_id,
            l.language,
            l.document_count,
            l.total_length,
            _pgrag.rounded_average(l.total_length, l.document_count),
            0
        from lengths as l
        on conflict (library_id, language) do update
        set document_count = c.document_count + excluded.document_count,
            total_length = c.total_length + excluded.total_length,
            average_length = coalesce(nullif(c.average_length, 0), excluded.average_length)
        returning c.language, c.average_length, c.document_count
    ),
    impacts as materialized (
        select
            t.document_id,
            t.language,
            t.lexeme,
            t.content_frequency,
            _pgrag.impact(
                t.frequency,
                t.length,
                c.average_length,
                (write_documents.settings ->> 'k1')::double precision,
                (write_documents.settings ->> 'b')::double precision
            )::real as impact
        from terms as t
        join corpora as c on c.language = t.language
        where t.frequency > 0
    ),
    -- Two lexemes of a document may share an index (a billion indexes, some hundred thousand
    -- lexemes: a few pairs in a library). A query then matches their sum, which bounds both.
    elements as (
        select
            i.document_id,
            pgrag.lexeme_id(i.language, i.lexeme) as lexeme_id,
            sum(i.impact) as impact,
            count(*) as lexeme_count
        from impacts as i
        group by i.document_id, pgrag.lexeme_id(i.language, i.lexeme)
    ),
    lexemes as (
        insert into pgrag.lexeme_statistics as s (
            library_id, language, lexeme, document_count, largest_impact
        )
        select
            write_documents.library_id,
            i.language,
            i.lexeme,
            count(*),
            max(coalesce(e.impact, i.impact))
        from impacts as i
        left join elements as e
            on e.lexeme_count > 1
            and e.document_id = i.document_id
            and e.lexeme_id = pgrag.lexeme_id(i.language, i.lexeme)
        group by i.language, i.lexeme
        on conflict (library_id, language, lexeme) do update
        set document_count = s.document_count + excluded.document_count,
            largest_impact = greatest(s.largest_impact, excluded.largest_impact)
        returning s.language, s.lexeme, s.document_count
    ),
    telling as (
        select t.document_id, array_agg(t.lexeme order by t.nth) as lexemes
        from (
            select
                i.document_id,
                i.lexeme,
                row_number() over (
                    partition by i.document_id
                    order by i.impact * l.idf desc, i.lexeme
                ) as nth
            from impacts as i
            join (
                select
                    s.language,
                    s.lexeme,
                    ln(1 + (c.document_count - s.document_count + 0.5::double precision)
                        / (s.document_count + 0.5)) as idf
                from lexemes as s
                join corpora as c on c.language = s.language
                -- Frequent terms do not discriminate, and would be most of the rows to sort.
                where s.document_count <= 10 + c.document_count / 20
            ) as l on l.language = i.language and l.lexeme = i.lexeme
            where i.content_frequency > 0
                -- Words only, no numbers or signs.
                and i.lexeme > 'a'
                and length(i.lexeme) > 2
        ) as t
        where t.nth <= 8
        group by t.document_id
    ),
    vectors as materialized (
        select
            e.document_id,
            _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights
        from elements as e
        group by e.document_id
    ),
    ranked as (
        insert into pgrag.impacts as i
        select
            s.library_id, s.document_id, s.version_id, s.page_id,
            case when s.level = 2 then s.parent_id else s.document_id end,
            s.sort_order, s.level, s.covers, s.text_hash, v.weights,
            _pgrag.title_vector(array[s.language], s.path[cardinality(s.path)])
        from unnest(write_documents.staged) as s
        left join vectors as v on v.document_id = s.document_id
        where s.covers > 0
        order by s.page_id, s.sort_order
        on conflict (library_id, document_id) do update
        set version_id = excluded.version_id,
            page_id = excluded.page_id,
            section_id = excluded.section_id,
            sort_order = excluded.sort_order,
            level = excluded.level,
            covers = excluded.covers,
            text_hash = excluded.text_hash,
            weights = case
                when excluded.document_id <@ write_documents.changed then excluded.weights
                else i.weights
            end,
            title_weights = excluded.title_weights
        where excluded.document_id <@ write_documents.changed or (
            i.section_id, i.sort_order, i.level, i.covers, i.text_hash
        ) is distinct from (
            excluded.section_id, excluded.sort_order, excluded.level, excluded.covers,
            excluded.text_hash
        )
    ),
    unranked as (
        delete from pgrag.impacts as i
        where i.library_id = write_documents.library_id
            and i.document_id = any (
                array(
                    select s.document_id
                    from unnest(write_documents.staged) as s
                    where s.covers = 0
                )
            )
    )
    insert into pgrag.documents as d
    overriding system value
    select
        s.library_id, s.document_id, s.version_id, s.page_id, s.parent_id, s.level, s.covers,
        s.sort_order, s.heading_level, s.depth, s.line_start, s.line_end, s.is_summary,
        s.text_hash, s.language, s.position, s.anchor, s.heading, s.root_section, s.types, s.path,
        s.overlap, s.content, s.search, s.content_tags,
        coalesce(_pgrag.keywords(s.content, s.language, t.lexemes), '{}'),
        s.context, s.situation, s.extract
    from unnest(write_documents.staged) as s
    left join telling as t on t.document_id = s.document_id
    order by s.page_id, s.sort_order
    on conflict (library_id, document_id) do update
    set parent_id = excluded.parent_id,
        covers = excluded.covers,
        sort_order = excluded.sort_order,
        heading_level = excluded.heading_level,
        depth = excluded.depth,
        line_start = excluded.line_start,
        line_end = excluded.line_end,
        is_summary = excluded.is_summary,
        text_hash = excluded.text_hash,
        language = excluded.language,
        position = excluded.position,
        anchor = excluded.anchor,
        heading = excluded.heading,
        root_section = excluded.root_section,
        types = excluded.types,
        path = excluded.path,
        overlap = excluded.overlap,
        content = excluded.content,
        search = excluded.search,
        content_tags = excluded.content_tags,
        keywords = case
            when excluded.document_id <@ write_documents.changed then excluded.keywords
            else d.keywords
        end,
        context = excluded.context,
        situation = excluded.situation,
        extract = excluded.extract
    where excluded.document_id <@ write_documents.changed or (
        d.parent_id, d.covers, d.sort_order, d.heading_level, d.depth, d.line_start, d.line_end,
        d.is_summary, d.text_hash, d.language, d.position, d.anchor, d.heading, d.root_section,
        d.types, d.path, d.overlap, d.content, d.content_tags, d.context,
        d.situation, d.extract
    ) is distinct from (
        excluded.parent_id, excluded.covers, excluded.sort_order, excluded.heading_level,
        excluded.depth, excluded.line_start, excluded.line_end, excluded.is_summary,
        excluded.text_hash, excluded.language, excluded.position, excluded.anchor,
        excluded.heading, excluded.root_section, excluded.types, excluded.path, excluded.overlap,
        excluded.content, excluded.content_tags, excluded.context,
        excluded.situation, excluded.extract
    );
$$;

-- Subtracts documents from the statistics before they are changed or deleted.
create or replace function _pgrag.forget_documents(
    library_id bigint,
    document_ids bigint[],
    settings jsonb
)
returns void
language sql
volatile
as $$
    with terms as materialized (
        select
            d.document_id,
            d.language,
            t.lexeme,
            t.header_frequency + t.content_frequency as frequency
        from pgrag.documents as d
        cross join lateral _pgrag.term_frequencies(
            d.search,
            _pgrag.field_weights(forget_documents.settings)
        ) as t
        where d.library_id = forget_documents.library_id
            and d.document_id = any (forget_documents.document_ids)
    ),
    lexemes as (
        update pgrag.lexeme_statistics as s
        set document_count = s.document_count - gone.document_count
        from (
            select t.language, t.lexeme, count(*) as document_count
            from terms as t
            where t.frequency > 0
            group by t.language, t.lexeme
        ) as gone
        where s.library_id = forget_documents.library_id
            and s.language = gone.language
            and s.lexeme = gone.lexeme
    )
    update pgrag.corpus_statistics as c
    set document_count = c.document_count - gone.document_count,
        total_length = c.total_length - gone.total_length
    from (
        select
            t.language,
            count(distinct t.document_id) as document_count,
            sum(t.frequency::double precision) as total_length
        from terms as t
        group by t.language
    ) as gone
    where c.library_id = forget_documents.library_id and c.language = gone.language;
$$;
