-- What a version is about, for pgrag.find_libraries: name (A), title and description of its front
-- page (B, C), its keywords (D). Once at the end of a run, if pages have changed.
create or replace function _pgrag.describe_version(
    library_id bigint,
    version_id bigint
)
returns void
language sql
volatile
-- Words too long for a lexeme raise notices; searches ignore them as well.
set client_min_messages = 'error'
as $$
    with outdated as materialized (
        select v.library_id, v.version_id, v.label, v.updated_at, l.name, l.language
        from pgrag.versions as v
        join pgrag.libraries as l on l.library_id = v.library_id
        where v.library_id = describe_version.library_id
            and v.version_id = describe_version.version_id
            -- A row that this transaction has changed may have changed again.
            and (v.described_at is distinct from v.updated_at or v.updated_at = now())
    ),
    -- The front page: index or README at the root, else in the folder with the most pages, else the
    -- page that most links lead to. Its description is that of the front matter, else its summary.
    front as (
        select
            left(coalesce(p.title, ''), 500) as title,
            left(coalesce(p.description, ''), 500) as description
        from outdated as o
        left join lateral (
            select
                p.title,
                coalesce(
                    nullif(btrim(p.front_matter ->> 'description'), ''),
                    (
                        select plain.text
                        from pgrag.documents as d
                        cross join lateral _pgrag.plain_text(d.content) as plain (text)
                        where d.library_id = p.library_id
                            and d.page_id = p.page_id
                            and d.level = 0
                        limit 1
                    )
                ) as description
            from (
                select
                    p.library_id, p.page_id, p.key, p.title, p.front_matter,
                    p.key ~* '^([^/]+/)?(_?index|readme)(\.\w+)?$' as is_index,
                    p.key like '%/%' as is_in_folder,
                    count(*) over (partition by split_part(p.key, '/', 1)) as pages_in_folder
                from pgrag.pages as p
                where p.library_id = o.library_id and p.version_id = o.version_id
            ) as p
            left join pgrag.page_ranks as r on r.library_id = p.library_id and r.page_id = p.page_id
            order by
                p.is_index desc,
                case when p.is_index then p.is_in_folder end,
                case when p.is_index then p.pages_in_folder end desc,
                r.rank desc nulls last, length(p.key), p.key
            limit 1
        ) as p on true
    ),
    -- The 200 lexemes that most pages have, the strongest first; a page with the lexeme in its
    -- title counts eleven times. Frequent words do no harm, because find_libraries weighs words by
    -- how few libraries have them. A sample of 1,000 pages suffices.
    keywords as (
        select coalesce(
            string_agg(_pgrag.tsquery_lexeme(r.lexeme) || ':' || r.rank, ' ' order by r.rank),
            ''
        )::tsvector as words
        from outdated as o
        cross join lateral (
            select
                term.lexeme,
                row_number() over (
                    order by
                        count(*) + 10 * count(*) filter (where 'A' = any (term.weights)) desc,
                        term.lexeme
                ) as rank
            from (
                select p.search
                from pgrag.pages as p
                where p.library_id = o.library_id and p.version_id = o.version_id
                order by hashint8(p.page_id), p.page_id
                limit 1000
            ) as p
            cross join lateral unnest(p.search) as term
            where term.lexeme ~ '^[^@].*[[:alpha:]]'
            group by term.lexeme
            order by rank
            limit 200
        ) as r
    )
    update pgrag.versions as v
    set title = f.title,
        description = f.description,
        search = _pgrag.weighted_vector(
            _pgrag.document_vector(
                o.language, concat_ws(' ', o.name, translate(o.name, '-_/', '   '), o.label)
            ),
            _pgrag.document_vector(o.language, f.title),
            _pgrag.document_vector(o.language, f.description),
            k.words
        ),
        described_at = o.updated_at
    from outdated as o
    cross join front as f
    cross join keywords as k
    where v.library_id = o.library_id and v.version_id = o.version_id;
$$;
