-- The full-text vector of a passage without its content: what the passages of a section have in
-- common.
create or replace function _pgrag.header_vector(
    language text,
    title text,
    path text[],
    url text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.weighted_vector(
        _pgrag.document_vector(header_vector.language, header_vector.title),
        _pgrag.path_vector(header_vector.language, header_vector.path),
        _pgrag.address_vector(header_vector.language, header_vector.url),
        ''
    );
$$;

-- Its parts, which the passages of a page have in common to another degree. Inlined.
create or replace function _pgrag.path_vector(
    language text,
    path text[]
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.document_vector(
        path_vector.language, pg_catalog.array_to_string(path_vector.path, ' . ')
    );
$$;

create or replace function _pgrag.address_vector(
    language text,
    url text
)
returns tsvector
language sql
stable
parallel safe
as $$
    select _pgrag.document_vector(
        address_vector.language,
        pg_catalog.translate(_pgrag.percent_decoded(address_vector.url), '-_/.?#=&', '        ')
    );
$$;

-- Two lexemes without positions encode library and version, so that the GIN index can restrict a
-- query to them; they have no frequency.
create or replace function _pgrag.content_vector(
    language text,
    content text,
    library_id bigint,
    version_id bigint
)
returns tsvector
language sql
stable
parallel safe
as $$
    select
        _pgrag.document_vector(content_vector.language, content_vector.content)
        || pg_catalog.array_to_tsvector(
            array['@l' || content_vector.library_id, '@v' || content_vector.version_id]
        );
$$;
