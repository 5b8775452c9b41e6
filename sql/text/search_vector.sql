-- Two lexemes without positions encode library and version, so that the GIN index can restrict a
-- query to them; they have no frequency.
create or replace function pgrag.search_vector(
    language text,
    title text,
    path text[],
    url text,
    content text,
    library_id bigint,
    version_id bigint,
    camel_case boolean default true
)
returns tsvector
language plpgsql
stable
parallel safe
set search_path from current
as $$
begin
    if not exists (
        select
        from pg_ts_config as c
        where c.cfgname = search_vector.language and pg_ts_config_is_visible(c.oid)
    ) then
        raise exception 'There is no text search configuration %.',
            quote_nullable(left(search_vector.language, 100))
            using errcode = 'PGR01',
                hint = 'pgrag.text_search_configuration names one for a language.';
    elsif search_vector.library_id is null or search_vector.version_id is null then
        raise exception 'library_id and version_id must not be null.' using errcode = 'PGR01';
    end if;
    return _pgrag.search_vector(
        quote_ident(search_vector.language), search_vector.title, search_vector.path,
        search_vector.url, search_vector.content, search_vector.library_id,
        search_vector.version_id, search_vector.camel_case
    );
end;
$$;

comment on function pgrag.search_vector is
'The weighted full-text vector of a passage: title A, path of headings B, url C, content D, and
the lexemes @l<library_id> and @v<version_id> without positions. language is a text search
configuration; camel_case: see searchable_text. Errors: PGR01.';

-- Without checks, for the queries that write passages.
create or replace function _pgrag.search_vector(
    language text,
    title text,
    path text[],
    url text,
    content text,
    library_id bigint,
    version_id bigint,
    camel_case boolean default true
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.header_vector(
            search_vector.language, search_vector.title, search_vector.path, search_vector.url,
            search_vector.camel_case
        )
        || _pgrag.content_vector(
            search_vector.language, search_vector.content, search_vector.library_id,
            search_vector.version_id, search_vector.camel_case
        );
$$;

-- The part that all passages of a section have in common.
create or replace function _pgrag.header_vector(
    language text,
    title text,
    path text[],
    url text,
    camel_case boolean default true
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.weighted_vector(
        pg_catalog.to_tsvector(
            header_vector.language::regconfig,
            pgrag.searchable_text(header_vector.title, header_vector.camel_case)
        ),
        pg_catalog.to_tsvector(
            header_vector.language::regconfig,
            pgrag.searchable_text(
                pg_catalog.array_to_string(header_vector.path, ' . '), header_vector.camel_case
            )
        ),
        pg_catalog.to_tsvector(
            header_vector.language::regconfig,
            pg_catalog.translate(header_vector.url, '-_/.?#=&', '        ')
        ),
        ''
    );
$$;

create or replace function _pgrag.content_vector(
    language text,
    content text,
    library_id bigint,
    version_id bigint,
    camel_case boolean default true
)
returns tsvector
language sql
stable
parallel safe
as $$
    select
        pg_catalog.to_tsvector(
            content_vector.language::regconfig,
            pgrag.searchable_text(content_vector.content, content_vector.camel_case)
        )
        || pg_catalog.array_to_tsvector(
            array['@l' || content_vector.library_id, '@v' || content_vector.version_id]
        );
$$;
