create or replace function pgrag.sentence_support(
    library text,
    sentences text[],
    documents jsonb
)
returns table (
    place integer,
    support double precision,
    best_document_id bigint
)
language plpgsql
stable
parallel safe
rows 10
set search_path from current
as $$
#variable_conflict use_column
declare
    library_ids bigint[] := case
        when sentence_support.library is null
        then array(select l.library_id from pgrag.libraries as l)
        else array[_pgrag.library_id(sentence_support.library)]
    end;
    complaint text;
begin
    complaint := case
        when sentences is null then 'sentences must be a list of texts, got null.'
        when jsonb_typeof(documents) is distinct from 'array'
        then format(
            'documents must be a list, got %s.', coalesce(left(documents::text, 100), 'null')
        )
        when jsonb_array_length(documents) <> cardinality(sentences)
        then format(
            'There are %s sentences and %s lists of document_ids.',
            cardinality(sentences), jsonb_array_length(documents)
        )
    end;
    if complaint is null then
        select format('documents must be lists of document_ids, got %s.', left(l.ids::text, 100))
        into complaint
        from jsonb_array_elements(documents) as l (ids)
        where jsonb_typeof(l.ids) <> 'array'
            or exists (
                select
                from jsonb_array_elements(case jsonb_typeof(l.ids) when 'array' then l.ids end)
                    as d (id)
                where jsonb_typeof(d.id) <> 'number' or d.id::text !~ '^\d{1,18}$'
            )
        limit 1;
    end if;
    if complaint is not null then
        raise exception '%', complaint
            using errcode = 'PGR01',
                hint = 'Pass one list for each sentence, as in [[12, 40], []].';
    end if;
    return query
    with asked as (
        select
            a.place::integer as place,
            -- Removes the citation marks, such as [3].
            regexp_replace(a.sentence, '\[\s*\d+(\s*[,;–-]\s*\d+)*\s*\]', ' ', 'g') as sentence
        from unnest(sentence_support.sentences) with ordinality as a (sentence, place)
    ),
    cited as (
        select l.place::integer as place, d.id::bigint as document_id, min(d.turn) as turn
        from jsonb_array_elements(sentence_support.documents) with ordinality as l (ids, place)
        cross join lateral jsonb_array_elements_text(l.ids) with ordinality as d (id, turn)
        group by 1, 2
    ),
    stored as materialized (
        select
            d.library_id, d.document_id, d.language,
            tsvector_to_array(
                _pgrag.document_vector(
                    d.language,
                    concat_ws(
                        E'\n\n', p.title, array_to_string(d.path, E'\n\n'),
                        coalesce(d.extract, d.content)
                    )
                )
            ) as words
        from pgrag.documents as d
        join pgrag.pages as p on p.library_id = d.library_id and p.page_id = d.page_id
        where d.library_id = any (library_ids)
            and d.document_id = any (array(select c.document_id from cited as c))
    ),
    corpora as (
        select c.library_id, c.language, c.document_count
        from pgrag.corpus_statistics as c
        where (c.library_id, c.language) in (select s.library_id, s.language from stored as s)
    ),
    claimed as (
        select a.place, t.language, w.lexeme
        from asked as a
        cross join (select distinct c.language from corpora as c) as t
        cross join lateral unnest(_pgrag.query_vector(t.language, a.sentence)) as w
    ),
    weighted as materialized (
        select
            w.place, w.lexeme, c.library_id, c.language,
            -- An unknown word, usually a verb, weighs like one with document frequency 1.
            pgrag.inverse_document_frequency(
                greatest(s.document_count, 1), c.document_count
            ) as weight
        from claimed as w
        join corpora as c on c.language = w.language
        left join pgrag.lexeme_statistics as s
            on s.library_id = c.library_id
            and s.language = c.language
            and s.lexeme = w.lexeme
    ),
    -- A word counts once, however many cited passages have it.
    shares as (
        select
            w.place,
            sum(w.weight) filter (
                where exists (
                    select
                    from cited as c
                    join stored as s on s.document_id = c.document_id
                    where c.place = w.place
                        and s.library_id = w.library_id
                        and s.language = w.language
                        and w.lexeme = any (s.words)
                )
            ) / sum(w.weight) as share
        from weighted as w
        group by w.place, w.library_id, w.language
    ),
    best as (
        select distinct on (c.place) c.place, c.document_id
        from cited as c
        join stored as s on s.document_id = c.document_id
        cross join lateral (
            select coalesce(sum(w.weight) filter (where w.lexeme = any (s.words)), 0) as said
            from weighted as w
            where w.place = c.place
                and w.library_id = s.library_id
                and w.language = s.language
        ) as of_it
        order by c.place, of_it.said desc, c.turn
    )
    select
        a.place,
        case
            when b.document_id is null then 0
            -- A sentence of stop words only has nothing to miss.
            when not exists (select from shares as s where s.place = a.place) then 1
            else coalesce((select max(s.share) from shares as s where s.place = a.place), 0)
        end::double precision,
        b.document_id
    from asked as a
    left join best as b on b.place = a.place
    order by a.place;
end;
$$;

comment on function pgrag.sentence_support is
'How far the cited passages support each sentence: one row per sentence, in order (place, from 1).
documents: for each sentence the list of the document_ids that it cites, as in [[12, 40], []].
support, from 0 to 1: the share of the sentence''s words, numbers and identifiers, each weighted by
its inverse document frequency in the library, that occur in title, path or content of at least one
cited passage; stop words do not count, and words are compared by their stems. 0 if the sentence
cites nothing, or nothing that is stored. Words are compared, not meanings: if sentence and source
differ in language, only names, numbers and code are found. best_document_id: the cited passage with
the largest share. library: the library of the passages (null: any). Errors: PGR01 for lists that do
not match, PGR02.';
