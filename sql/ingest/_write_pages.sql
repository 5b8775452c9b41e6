-- A page whose source hash is unchanged is skipped.
create or replace function _pgrag.write_pages(
    library_id bigint,
    version_id bigint,
    language text,
    pages jsonb
)
returns bigint[]
language plpgsql
volatile
-- A date without a time zone is read as UTC in every session, here and in filters.
set timezone = 'UTC'
as $$
#variable_conflict use_column
declare
    keys text[] := array(
        select p ->> 'key' from jsonb_array_elements(write_pages.pages) as p
    );
    last_id bigint := _pgrag.take_ids(write_pages.library_id, cardinality(keys));
    written bigint[];
    -- What says the date of a page that was sent without a source.
    stated constant text := 'front matter';
    repeated constant text := (
        select string_agg(k.key, ', ' order by k.key)
        from (select k.key from unnest(keys) as k (key) group by k.key having count(*) > 1) as k
    );
begin
    if exists (select from unnest(keys) as k (key) where coalesce(btrim(k.key), '') = '') then
        raise exception 'A page has no key.'
            using errcode = 'PGR01',
                hint = 'key is the path of its source, say "guide/install.md".';
    end if;
    if repeated is not null then
        raise exception 'Two of the pages have the key %.', repeated
            using errcode = 'PGR01', hint = 'Send each page once.';
    end if;

    perform _pgrag.forget_pages(
        write_pages.library_id,
        array(
            select p.page_id
            from jsonb_array_elements(write_pages.pages) as i (page)
            -- "offset 0": one lookup by key per page, never a scan of the version.
            cross join lateral (
                select p.page_id, p.source_hash
                from pgrag.pages as p
                where p.library_id = write_pages.library_id
                    and p.version_id = write_pages.version_id
                    and p.key = i.page ->> 'key'
                offset 0
            ) as p
            where p.source_hash <> _pgrag.source_hash(i.page)
        )
    );
    -- Materialized, so that the language is sought once.
    with incoming as materialized (
        select
            p.*, _pgrag.source_hash(i.page) as source_hash, last_id + i.nth as new_id,
            _pgrag.address_warnings(i.page) as address_warnings,
            _pgrag.page_language(
                p.key, p.language, _pgrag.page_content(i.page), write_pages.language, s.patterns
            ) as language_code
        from (
            select _pgrag.language_patterns(write_pages.language) as patterns offset 0
        ) as s
        cross join jsonb_array_elements(write_pages.pages) with ordinality as i (page, nth)
        cross join lateral jsonb_to_record(i.page) as p (
            key text, url text, title text, path text[], front_matter jsonb, uuid text, link text,
            topic text, type text, tags text[], language text, created timestamptz,
            created_from text, modified timestamptz, modified_from text, warnings text[], body text,
            head text, aliases text[], reading jsonb, words_shown integer, words_kept integer
        )
    ),
    -- The rule of pgrag.page_type, which would read the patterns anew for each page.
    patterns as materialized (
        select f.page_type, f.pattern, f.nth from _pgrag.folder_patterns() as f
    ),
    stored as (
        insert into pgrag.pages as p (
            library_id, page_id, version_id, key, url, title, path, front_matter, uuid, link, topic,
            type, tags, language, language_code, created, created_from, modified, modified_from,
            source_hash, warnings, body, head, aliases, reading, body_hash, words_shown, words_kept
        )
        select
            write_pages.library_id,
            -- Of a page that exists, its id stays.
            i.new_id, write_pages.version_id, i.key,
            _pgrag.page_address(i.url, i.key),
            coalesce(nullif(btrim(i.title), ''), i.key), coalesce(i.path, '{}'),
            coalesce(i.front_matter, '{}'), lower(i.uuid),
            case when _pgrag.address_fault(i.link) is null then i.link end, i.topic,
            coalesce(
                nullif(btrim(i.type), ''),
                (
                    select f.page_type
                    from patterns as f
                    where i.key ~ f.pattern
                    order by f.nth
                    limit 1
                )
            ),
            -- Tags are distinct, because facets count the stored array.
            array(
                select t.tag
                from unnest(i.tags) with ordinality as t (tag, nth)
                group by t.tag
                order by min(t.nth)
            ),
            _pgrag.text_search_configuration(i.language_code), i.language_code,
            i.created, case when i.created is not null then coalesce(i.created_from, stated) end,
            i.modified, case when i.modified is not null then coalesce(i.modified_from, stated) end,
            i.source_hash,
            coalesce(i.warnings, '{}') || i.address_warnings || _pgrag.language_warning(
                i.key, i.language, i.front_matter, i.language_code
            ),
            coalesce(i.body, ''),
            coalesce(i.head, ''), coalesce(i.aliases, '{}'), i.reading,
            pgrag.text_hash(coalesce(i.body, '')), i.words_shown, i.words_kept
        from incoming as i
        on conflict (library_id, version_id, key) do update
        set (
            url, title, path, front_matter, uuid, link, topic, type, tags, language, language_code,
            created, created_from, modified, modified_from, source_hash, warnings, body, head,
            aliases, reading, body_hash, words_shown, words_kept, length, indexed_at
        ) = (
            excluded.url, excluded.title, excluded.path, excluded.front_matter, excluded.uuid,
            excluded.link, excluded.topic, excluded.type, excluded.tags, excluded.language,
            excluded.language_code, excluded.created, excluded.created_from, excluded.modified,
            excluded.modified_from, excluded.source_hash, excluded.warnings, excluded.body,
            excluded.head, excluded.aliases, excluded.reading, excluded.body_hash,
            excluded.words_shown, excluded.words_kept, 0, now()
        )
        where p.source_hash <> excluded.source_hash
        returning p.page_id
    )
    select coalesce(array_agg(s.page_id), '{}') into written from stored as s;
    return written;
end;
$$;

-- The hash of a page without source_hash covers the whole page, passages included.
create or replace function _pgrag.source_hash(
    page jsonb
)
returns text
language sql
immutable
parallel safe
as $$
    select coalesce(
        source_hash.page ->> 'source_hash', pgrag.text_hash(source_hash.page::text)::text
    );
$$;

-- A list of one warning if a page states something else than a language.
create or replace function _pgrag.language_warning(
    key text,
    stated text,
    front_matter jsonb,
    taken text
)
returns text[]
language sql
immutable
parallel safe
as $$
    select coalesce(array_agg(
        format(
            '%s: front matter field "%s" names no language: %s; taken for %s',
            key,
            coalesce(
                (
                    select f.name
                    from jsonb_each_text(front_matter) as f (name, value)
                    where lower(f.name) in ('lang', 'language', 'locale')
                        and strpos(f.value, stated) > 0
                    limit 1
                ),
                'language'
            ),
            quote_literal(left(stated, 80)), taken
        )
    ), '{}')
    where btrim(stated) <> '' and _pgrag.language_code(stated) is null;
$$;
