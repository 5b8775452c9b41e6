-- What a version is about, for pgrag.find_libraries: title and description of its front page, and
-- the words that are keywords of most passages. Once at the end of a run, if pages have changed.
create or replace function _pgrag.describe_version(
    library_id bigint,
    version_id bigint
)
returns void
language sql
volatile
as $$
    update pgrag.versions as v
    set title = f.title,
        description = f.description,
        search = _pgrag.weighted_vector(
            to_tsvector(
                l.language::regconfig,
                pgrag.searchable_text(concat_ws(' ', l.name, translate(l.name, '-_/', '   '), v.label))
            ),
            to_tsvector(l.language::regconfig, pgrag.searchable_text(f.title)),
            to_tsvector(l.language::regconfig, pgrag.searchable_text(f.description)),
            to_tsvector(l.language::regconfig, pgrag.searchable_text(k.words))
        ),
        described_at = v.updated_at
    from pgrag.libraries as l
    cross join lateral _pgrag.front_page(
        describe_version.library_id, describe_version.version_id
    ) as f
    cross join lateral (
        select string_agg(w.word, ' ' order by w.passages desc, w.word) as words
        from (
            select lower(word) as word, count(*) as passages
            from pgrag.documents as d
            cross join unnest(d.keywords) as word
            where d.library_id = describe_version.library_id
                and d.version_id = describe_version.version_id
            group by lower(word)
            order by passages desc, word
            limit 200
        ) as w
    ) as k
    where l.library_id = describe_version.library_id
        and v.library_id = describe_version.library_id
        and v.version_id = describe_version.version_id
        and v.described_at is distinct from v.updated_at;
$$;

-- The page that tells what a version is: index or README at its root, else the one that most links
-- lead to. Its description is that of the front matter, else its summary.
create or replace function _pgrag.front_page(
    library_id bigint,
    version_id bigint
)
returns table (
    title text,
    description text
)
language sql
stable
parallel safe
rows 1
as $$
    select coalesce(p.title, ''), left(coalesce(p.description, ''), 500)
    from (values (1)) as one (row)
    left join lateral (
        select
            p.title,
            coalesce(
                p.front_matter ->> 'description',
                (
                    select plain.text
                    from pgrag.documents as d
                    cross join lateral pgrag.plain_text(d.content) as plain (text)
                    where d.library_id = p.library_id
                        and d.page_id = p.page_id
                        and d.level = 0
                    limit 1
                )
            ) as description
        from pgrag.pages as p
        left join pgrag.page_ranks as r on r.library_id = p.library_id and r.page_id = p.page_id
        where p.library_id = front_page.library_id and p.version_id = front_page.version_id
        order by
            p.key ~* '^(_?index|readme)(\.\w+)?$' desc,
            r.rank desc nulls last,
            length(p.key),
            p.key
        limit 1
    ) as p on true;
$$;
