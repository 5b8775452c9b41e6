-- What a version lacks of a query and other versions of its library have: words that no passage
-- contains, and names that head no section. A sentence for each, with the versions that have it.
-- Every search of one version pays for this, so a common word counts as present in every version,
-- and headings are searched only for words of few passages.
create or replace function _pgrag.lacking_words(
    words text,
    terms pgrag.query_term[],
    version_id bigint
)
returns setof text
language plpgsql
stable
parallel unsafe
as $$
declare
    owner_id bigint;
    others bigint[];
    wanted record;
    here record;
    headings bigint[];
begin
    -- Only of the libraries searched: row-level security checks each mention of a table.
    select v.library_id, array_remove(array_agg(v.version_id), lacking_words.version_id)
    into owner_id, others
    from pgrag.versions as v
    where v.library_id = any (array(select t.library_id from unnest(terms) as t))
    group by v.library_id
    having bool_or(v.version_id = lacking_words.version_id);
    if coalesce(others, '{}') = '{}' then
        return;
    end if;
    select
        array_agg(w.id) as ids,
        array_agg(w.id) filter (where w.passages <= 100) as of_headings,
        array_agg(w.language) as languages,
        array_agg(w.lexeme) as lexemes
    into wanted
    from (
        select
            t.language,
            t.lexeme,
            _pgrag.lexeme_id(t.language, t.lexeme)::bigint as id,
            t.document_count::double precision / (1 + cardinality(others)) as passages
        from unnest(terms) as t
        where t.library_id = owner_id and t.document_count > 0
    ) as w
    where w.passages <= 1000;
    if wanted.ids is null then
        return;
    end if;
    here := _pgrag.occurring_lexemes(array[version_id], wanted.ids, wanted.of_headings);
    -- Those that head a section of other versions alone.
    headings := array(
        select h.id
        from unnest(wanted.of_headings) as h (id)
        where h.id = any (here.anywhere) and h.id <> all (here.in_titles)
    );
    if headings <> '{}' then
        headings := (_pgrag.occurring_lexemes(others, '{}', headings)).in_titles;
    end if;
    if wanted.ids <@ here.anywhere and headings = '{}' then
        return;
    end if;
    return query
    select format(
        case
            when h.is_nowhere then 'No passage of %s %s contains "%s"; versions that do: %s.'
            else 'No section of %s %s is headed "%s"; versions that have one: %s.'
        end,
        l.name, coalesce(nullif(v.label, ''), '(unversioned)'), h.word, h.labels
    )
    from (
        select
            w.is_nowhere,
            p.word,
            (
                select string_agg(
                    coalesce(nullif(o.label, ''), '(unversioned)'),
                    ', ' order by o.release_key desc nulls last, o.label
                )
                from pgrag.versions as o
                where o.library_id = owner_id
                    and o.version_id = any (others)
                    and _pgrag.has_word(
                        owner_id, o.version_id, p.word,
                        in_titles => not w.is_nowhere, is_name => not w.is_nowhere
                    )
            ) as labels
        from (
            select l.*, l.id <> all (here.anywhere) as is_nowhere
            from unnest(wanted.ids, wanted.languages, wanted.lexemes) as l (id, language, lexeme)
        ) as w
        -- The words of the query that the lexeme comes from.
        cross join lateral (
            select distinct r.word
            from regexp_split_to_table(words, '\s+') as s (part)
            cross join lateral btrim(s.part, '.,:;!?()[]{}<>"''`…') as r (word)
            where r.word ~ '[[:alpha:]]{2}'
                and not _pgrag.has_bigrams(r.word)
                and w.lexeme = any (tsvector_to_array(_pgrag.query_vector(w.language, r.word)))
        ) as p
        where (w.is_nowhere or w.id = any (headings))
            and not _pgrag.has_word(
                owner_id, lacking_words.version_id, p.word,
                in_titles => not w.is_nowhere, is_name => false
            )
        offset 0
    ) as h
    join pgrag.versions as v
        on v.library_id = owner_id and v.version_id = lacking_words.version_id
    join pgrag.libraries as l on l.library_id = v.library_id
    where h.labels is not null
    order by strpos(words, h.word);
end;
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
        cross join lateral (
            select array_agg(_pgrag.lexeme_id(c.language, t.lexeme)::bigint) as ids
            from unnest(_pgrag.query_vector(c.language, has_word.word)) as t
        ) as w
        where c.library_id = has_word.library_id
            and c.document_count > 0
            and case
                when has_word.is_name
                then _pgrag.heads_section(has_word.version_id, w.ids, has_word.word)
                else (
                    select case when has_word.in_titles then o.in_titles else o.anywhere end
                    from _pgrag.occurring_lexemes(
                        array[has_word.version_id],
                        case when not has_word.in_titles then w.ids end,
                        case when has_word.in_titles then w.ids end
                    ) as o
                ) @> w.ids
            end
    );
$$;

-- Whether the heading of a section, with one of its lexemes, is the name alone, or with its type or
-- arguments: "browser [boolean]", "--retries <n>", "open(path)".
create or replace function _pgrag.heads_section(
    version_id bigint,
    lexeme_ids bigint[],
    name text
)
returns boolean
language plpgsql
stable
parallel unsafe
set enable_seqscan = off
set jit = off
as $$
declare
    title constant sparsevec := _pgrag.sparse_vector(
        (select string_agg(l.id || ':1', ',') from unnest(lexeme_ids) as l (id))
    );
    bare_name constant text := ltrim(lower(name), '-');
    -- Assigned, because perform would run a statement.
    narrowing constant text[] := array[
        set_config('pgrag.narrowing_versions', array[version_id]::text, true),
        set_config('pgrag.narrowing_lexemes', lexeme_ids::text, true),
        set_config('pgrag.lexemes_beside', lexeme_ids::text, true)
    ];
begin
    return exists (
        select
        from (
            select i.library_id, i.document_id
            from _pgrag.matching_impacts as i
            where i.title_weights <#> title < 0
            offset 0
        ) as i
        join pgrag.documents as d
            on d.library_id = i.library_id and d.document_id = i.document_id
        cross join lateral (select ltrim(lower(d.heading), '-') as heading) as bare
        where starts_with(bare.heading, bare_name)
            and substr(bare.heading, length(bare_name) + 1) ~ '^($|\s*[]\[(<{=:,|])'
    );
end;
$$;
