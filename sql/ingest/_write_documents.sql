-- One statement: the corpus length, impacts, statistics and rows share one count of terms, which
-- takes 5 % of ingest_pages (0.3 of 6.1 s for 3,750 passages), and each part would repeat it. The
-- first passages of a language fix the average length in the impacts; only _refresh_impacts changes
-- it. Lengths are summed in double precision, because a sum in single precision depends on the
-- order. The changed ids are a multirange: an array would be searched from its start each time.
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
    -- Each unnest would copy all texts.
    with staged as materialized (
        select s.* from unnest(write_documents.staged) as s
    ),
    frequencies as materialized (
        select s.document_id, s.language, t.*
        -- "offset 0": settings are read once, not for every lexeme.
        from (select _pgrag.field_weights(write_documents.settings) as weights offset 0) as b
        cross join staged as s
        cross join lateral (
            select
                array_agg(f.lexeme) filter (where f.frequency > 0) as lexemes,
                array_agg(f.frequency) filter (where f.frequency > 0) as frequencies,
                array_agg(f.is_content) filter (where f.frequency > 0) as are_content,
                sum(f.frequency) as length
            from (
                select
                    f.lexeme, f.header_frequency + f.content_frequency as frequency,
                    f.content_frequency > 0 as is_content
                from _pgrag.term_frequencies(s.search, b.weights) as f
                offset 0
            ) as f
        ) as t
        where s.document_id <@ write_documents.changed and s.covers > 0
    ),
    lengths as (
        select
            l.language, count(*) as document_count, sum(l.length::double precision) as total_length
        from frequencies as l
        where l.length is not null
        group by l.language
    ),
    corpora as (
        insert into pgrag.corpus_statistics as c (
            library_id, language, document_count, total_length, average_length, average_page_length
        )
        select
            write_documents.library_id, l.language, l.document_count, l.total_length,
            _pgrag.rounded_average(l.total_length, l.document_count), 0
        from lengths as l
        on conflict (library_id, language) do update
        set document_count = c.document_count + excluded.document_count,
            total_length = c.total_length + excluded.total_length,
            average_length = coalesce(nullif(c.average_length, 0), excluded.average_length)
        returning c.language, c.average_length, c.document_count
    ),
    weighted as materialized (
        select f.document_id, f.language, f.lexemes, f.are_content, i.*
        from frequencies as f
        join (
            select
                c.*,
                (write_documents.settings ->> 'k1')::double precision as k1,
                (write_documents.settings ->> 'b')::double precision as b
            from corpora as c
            offset 0
        ) as c on c.language = f.language
        cross join lateral (
            select
                array_agg(
                    _pgrag.impact(t.frequency, f.length, c.average_length, c.k1, c.b)::real
                ) as impacts
            from unnest(f.frequencies) as t (frequency)
        ) as i
    ),
    vectors as materialized (
        select w.document_id, v.*
        from weighted as w
        cross join lateral (
            select
                _pgrag.sparse_vector(string_agg(e.lexeme_id || ':' || e.impact, ',')) as weights,
                array_agg(e.lexeme_id) filter (where e.lexeme_count > 1) as shared
            from (
                select
                    _pgrag.lexeme_id(w.language, t.lexeme) as lexeme_id, sum(t.impact) as impact,
                    count(*) as lexeme_count
                from unnest(w.lexemes, w.impacts) as t (lexeme, impact)
                group by 1
            ) as e
        ) as v
    ),
    lexemes as (
        insert into pgrag.lexeme_statistics as s (
            library_id, language, lexeme, document_count, largest_impact
        )
        select
            write_documents.library_id, w.language, t.lexeme, count(*),
            max(
                case
                    when v.shared is null then t.impact
                    when _pgrag.lexeme_id(w.language, t.lexeme) <> all (v.shared) then t.impact
                    else (
                        select sum(o.impact)
                        from unnest(w.lexemes, w.impacts) as o (lexeme, impact)
                        where _pgrag.lexeme_id(w.language, o.lexeme)
                            = _pgrag.lexeme_id(w.language, t.lexeme)
                    )
                end
            )
        from weighted as w
        join vectors as v on v.document_id = w.document_id
        cross join lateral unnest(w.lexemes, w.impacts) as t (lexeme, impact)
        group by w.language, t.lexeme
        on conflict (library_id, language, lexeme) do update
        set document_count = s.document_count + excluded.document_count,
            largest_impact = greatest(s.largest_impact, excluded.largest_impact)
        returning s.language, s.lexeme, s.document_count
    ),
    telling as (
        select t.document_id, array_agg(t.lexeme order by t.nth) as lexemes
        from (
            select
                w.document_id, w.lexeme,
                row_number() over (
                    partition by w.document_id
                    order by w.impact * l.idf desc, w.lexeme
                ) as nth
            -- "offset 0": one join for all passages, not one for each.
            from (
                select w.document_id, w.language, t.lexeme, t.impact
                from weighted as w
                cross join lateral unnest(w.lexemes, w.impacts, w.are_content)
                    as t (lexeme, impact, is_content)
                where t.is_content
                    -- Words only, no numbers or signs.
                    and t.lexeme > 'a'
                    and length(t.lexeme) > 2
                offset 0
            ) as w
            join (
                select
                    s.language, s.lexeme,
                    ln(1 + (c.document_count - s.document_count + 0.5::double precision)
                        / (s.document_count + 0.5)) as idf
                from lexemes as s
                join corpora as c on c.language = s.language
                -- Frequent terms do not discriminate, and would be most of the rows to sort.
                where s.document_count <= 10 + c.document_count / 20
            ) as l on l.language = w.language and l.lexeme = w.lexeme
        ) as t
        where t.nth <= 8
        group by t.document_id
    ),
    titles as materialized (
        select t.*, _pgrag.title_vector(array[t.language], t.title) as weights
        from (
            select distinct s.language, s.path[cardinality(s.path)] as title
            from staged as s
            where s.covers > 0
        ) as t
    ),
    ranked as (
        insert into pgrag.impacts as i
        select
            s.library_id, s.document_id, s.version_id, s.page_id,
            case when s.level = 2 then s.parent_id else s.document_id end,
            s.sort_order, s.section_end, s.level, s.covers, s.text_hash,
            _pgrag.content_hash(s.content), v.weights, t.weights
        from staged as s
        left join vectors as v on v.document_id = s.document_id
        left join titles as t on t.language = s.language and t.title = s.path[cardinality(s.path)]
        where s.covers > 0
        order by s.page_id, s.sort_order
        on conflict (library_id, document_id) do update
        set (
            version_id, page_id, section_id, sort_order, section_end, level, covers, text_hash,
            content_hash, weights, title_weights
        ) = (
            excluded.version_id, excluded.page_id, excluded.section_id, excluded.sort_order,
            excluded.section_end, excluded.level, excluded.covers, excluded.text_hash,
            excluded.content_hash,
            case
                when excluded.document_id <@ write_documents.changed then excluded.weights
                else i.weights
            end,
            excluded.title_weights
        )
    ),
    unranked as (
        delete from pgrag.impacts as i
        where i.library_id = write_documents.library_id
            and i.document_id = any (
                array(select s.document_id from staged as s where s.covers = 0)
            )
    )
    insert into pgrag.documents
    select
        s.library_id, s.document_id, s.version_id, s.page_id, s.parent_id, s.level, s.covers,
        s.sort_order, s.section_end, s.heading_level, s.depth, s.line_start, s.line_end,
        s.is_summary, s.text_hash, s.language, s.position, s.anchor, s.heading, s.root_section,
        s.types, s.path, s.overlap, s.content, s.search, s.content_tags,
        case
            when s.document_id <@ write_documents.changed
            then coalesce(_pgrag.keywords(s.content, s.language, t.lexemes), '{}')
            else s.keywords
        end,
        s.context, s.situation, s.extract
    from staged as s
    left join telling as t on t.document_id = s.document_id
    order by s.page_id, s.sort_order
    on conflict (library_id, document_id) do update
    set (
        library_id, document_id, version_id, page_id, parent_id, level, covers, sort_order,
        section_end, heading_level, depth, line_start, line_end, is_summary, text_hash, language,
        position, anchor, heading, root_section, types, path, overlap, content, search,
        content_tags, keywords, context, situation, extract
    ) = (select excluded.*);
$$;

-- Subtracts passages from the statistics before they are changed or deleted.
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
            d.document_id, d.language, t.lexeme,
            t.header_frequency + t.content_frequency as frequency
        from (select _pgrag.field_weights(forget_documents.settings) as weights offset 0) as b
        cross join pgrag.documents as d
        cross join lateral _pgrag.term_frequencies(d.search, b.weights) as t
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
            t.language, count(distinct t.document_id) as document_count,
            sum(t.frequency::double precision) as total_length
        from terms as t
        group by t.language
    ) as gone
    where c.library_id = forget_documents.library_id and c.language = gone.language;
$$;
