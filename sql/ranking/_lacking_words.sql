-- What a version lacks of a query and other versions of its library have: words that none of its
-- passages contains, and names that head no section of it. A sentence for each, with the versions
-- that have it. Every search that asks for a version pays for this, so a common word is taken to be
-- in every version, and a word of many passages is not looked for in headings.
create or replace function _pgrag.lacking_words(
    words text,
    terms pgrag.query_term[],
    version_id bigint
)
returns setof text
language plpgsql
stable
parallel unsafe
-- Of a condition on the index of impacts the planner knows too little for "exists".
set enable_seqscan = off
set jit = off
as $$
declare
    asked record;
    version_count integer;
    term pgrag.query_term;
    is_nowhere boolean;
begin
    select
        v.library_id,
        format('%s %s', l.name, coalesce(nullif(v.label, ''), '(unversioned)')) as name,
        array(
            select o.version_id
            from pgrag.versions as o
            where o.library_id = v.library_id and o.version_id <> v.version_id
            order by o.release_key desc nulls last, o.label
        ) as others
    into asked
    from pgrag.versions as v
    join pgrag.libraries as l on l.library_id = v.library_id
    where v.version_id = lacking_words.version_id;
    if asked.others = '{}' then
        return;
    end if;
    version_count := 1 + cardinality(asked.others);
    foreach term in array terms loop
        continue when term.library_id <> asked.library_id
            or term.document_count not between 1 and 1000 * version_count;
        is_nowhere := not _pgrag.occurs(array[version_id], term.language, term.lexeme);
        continue when not is_nowhere
            and (
                term.document_count > 100 * version_count
                or _pgrag.occurs(
                    array[version_id], term.language, term.lexeme, in_titles => true
                )
                or not _pgrag.occurs(asked.others, term.language, term.lexeme, in_titles => true)
            );
        return query
        select format(
            case
                when is_nowhere then 'No passage of %s contains "%s"; versions that do: %s.'
                else 'No section of %s is headed "%s"; versions that have one: %s.'
            end,
            asked.name, h.word, h.labels
        )
        from (
            select
                w.word,
                (
                    select string_agg(v.label, ', ' order by o.nth)
                    from unnest(asked.others) with ordinality as o (other_id, nth)
                    join pgrag.versions as v
                        on v.library_id = asked.library_id and v.version_id = o.other_id
                    where _pgrag.has_word(
                        asked.library_id, o.other_id, w.word,
                        in_titles => not is_nowhere, is_name => not is_nowhere
                    )
                ) as labels
            from _pgrag.words_with(words, term.language, term.lexeme) as w (word)
            where not _pgrag.has_word(
                asked.library_id, lacking_words.version_id, w.word,
                in_titles => not is_nowhere, is_name => false
            )
        ) as h
        where h.labels is not null;
    end loop;
end;
$$;

-- The words of a query that a lexeme comes from.
create or replace function _pgrag.words_with(
    words text,
    language text,
    lexeme text
)
returns setof text
language sql
stable
parallel safe
as $$
    select distinct p.word
    from (
        select btrim(r.part, '.,:;!?()[]{}<>"''`…') as word
        from regexp_split_to_table(words_with.words, '\s+') as r (part)
    ) as p
    where p.word ~ '[[:alpha:]]{2}'
        and words_with.lexeme = any (
            tsvector_to_array(
                to_tsvector(
                    words_with.language::regconfig,
                    pgrag.searchable_text(p.word, camel_case => false)
                )
            )
        );
$$;

-- Whether a version has a word, with all parts of it, in any language; is_name: as the name that a
-- section is headed by.
create or replace function _pgrag.has_word(
    library_id bigint,
    version_id bigint,
    word text,
    in_titles boolean,
    is_name boolean
)
returns boolean
language sql
stable
parallel unsafe
as $$
    select exists (
        select
        from pgrag.corpus_statistics as c
        where c.library_id = has_word.library_id
            and c.document_count > 0
            and (
                select bool_and(
                    _pgrag.occurs(
                        array[has_word.version_id], c.language, t.lexeme, has_word.in_titles,
                        case when has_word.is_name then has_word.word end
                    )
                )
                from unnest(
                    to_tsvector(
                        c.language::regconfig,
                        pgrag.searchable_text(has_word.word, camel_case => false)
                    )
                ) as t
            )
    );
$$;

-- Whether a passage of these versions contains a lexeme: anywhere, or in its section's heading, or
-- in one that is a certain name.
create or replace function _pgrag.occurs(
    version_ids bigint[],
    language text,
    lexeme text,
    in_titles boolean default false,
    name text default null
)
returns boolean
language plpgsql
stable
parallel unsafe
as $$
declare
    lexeme_ids constant bigint[] := array[pgrag.lexeme_id(occurs.language, occurs.lexeme)];
    title constant sparsevec := case when in_titles then _pgrag.lexeme_vector(lexeme_ids) end;
    keys bigint[];
    narrowing text;
begin
    -- Whom row-level security restricts reads the index through a barrier: see matching_impacts.
    if row_security_active('pgrag.impacts') then
        -- Assigned, because perform would run a statement.
        narrowing := set_config('pgrag.narrowing_versions', version_ids::text, true);
        narrowing := set_config('pgrag.narrowing_lexemes', lexeme_ids::text, true);
        narrowing := set_config('pgrag.lexemes_beside', lexeme_ids::text, true);
        return exists (
            select
            from _pgrag.matching_impacts as i
            where (title is null or i.title_weights <#> title < 0)
                and _pgrag.is_headed(i.library_id, i.document_id, name)
        );
    end if;
    keys := _pgrag.query_keys(version_ids, lexeme_ids);
    return exists (
        select
        from pgrag.impacts as i
        where _pgrag.posting_keys(i.version_id, i.weights) && keys
            and (title is null or i.title_weights <#> title < 0)
            and _pgrag.is_headed(i.library_id, i.document_id, name)
    );
end;
$$;

-- Whether the heading of a passage is the name alone, or with its type or arguments:
-- "browser [boolean]", "--retries <n>", "open(path)". True without a name.
create or replace function _pgrag.is_headed(
    library_id bigint,
    document_id bigint,
    name text
)
returns boolean
language sql
stable
parallel safe
as $$
    select is_headed.name is null or exists (
        select
        from pgrag.documents as d
        cross join lateral (
            select
                ltrim(lower(d.heading), '-') as heading,
                ltrim(lower(is_headed.name), '-') as name
        ) as bare
        where d.library_id = is_headed.library_id
            and d.document_id = is_headed.document_id
            and starts_with(bare.heading, bare.name)
            and substr(bare.heading, length(bare.name) + 1) ~ '^($|\s*[]\[(<{=:,|])'
    );
$$;
