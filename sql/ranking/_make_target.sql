-- Resolves everything that narrows a search to ids, once. Both retrievers use the same lists, and
-- the number of passages decides between the exact scan and the HNSW index.
create or replace function _pgrag.make_target(
    library_ids bigint[],
    version_ids bigint[],
    document_count bigint,
    every_version boolean,
    covers integer,
    filters jsonb,
    required text[],
    excluded text[],
    own_index_ids bigint[],
    unit text default 'document'
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
as $$
declare
    target _pgrag.search_target;
    matching bigint[];
    -- For pages, a word must be anywhere on the page. A phrase, and a word with signs, which is
    -- compared as one, or has several lexemes, must always be in one passage.
    page_words text[];
begin
    target.library_ids := library_ids;
    target.version_ids := version_ids;
    target.document_count := document_count;
    target.covers := covers;
    target.own_index_ids := own_index_ids;
    target.scope := case
        when every_version
        then '(''@l' || nullif(array_to_string(library_ids, ''' | ''@l'), '') || ''')'
        else '(''@v' || nullif(array_to_string(version_ids, ''' | ''@v'), '') || ''')'
    end;
    if filters is not null then
        target := _pgrag.filtered_target(target, filters);
    end if;

    -- Required and excluded phrases and words, by the full-text indexes.
    if cardinality(required) > 0 then
        if unit = 'page' then
            page_words := array(
                select r
                from unnest(required) as r
                where r ~ '^[[:alnum:]]+$' and not _pgrag.has_bigrams(r)
            );
        end if;
        matching := _pgrag.ids_matching(
            target,
            array(select r from unnest(required) as r where r = any (page_words) is not true),
            ' & '
        );
        target.allowed_documents := case
            when target.allowed_documents is null or matching is null
            then coalesce(matching, target.allowed_documents)
            else array(select unnest(target.allowed_documents) intersect select unnest(matching))
        end;
    end if;
    if cardinality(page_words) > 0 then
        matching := _pgrag.ids_matching(target, page_words, ' & ', of_pages => true);
        if target.allowed_documents is not null and matching is not null then
            target.allowed_documents := array(
                select d.document_id
                from pgrag.documents as d
                where d.library_id = any (target.library_ids)
                    and d.document_id = any (target.allowed_documents)
                    and d.page_id in (select p.id from unnest(matching) as p (id))
            );
        elsif matching is not null then
            if target.allowed_pages is not null then
                matching := array(
                    select unnest(matching) intersect select unnest(target.allowed_pages)
                );
            end if;
            select coalesce(array_agg(p.page_id), '{}'), coalesce(sum(p.document_count), 0)
            into target.allowed_pages, target.document_count
            from pgrag.pages as p
            where p.library_id = any (target.library_ids) and p.page_id = any (matching);
        end if;
    end if;
    if cardinality(excluded) > 0 then
        target.denied_documents := _pgrag.ids_matching(target, excluded, ' | ');
    end if;
    if target.allowed_documents is not null then
        target.document_count := least(
            target.document_count, cardinality(target.allowed_documents)
        );
    end if;
    return target;
end;
$$;

create or replace function _pgrag.filtered_target(
    target _pgrag.search_target,
    filters jsonb
)
returns _pgrag.search_target
language plpgsql
stable
parallel safe
-- A date without a time zone means the same day in every session and in the index.
set timezone = 'UTC'
as $$
declare
    predicate constant text := pgrag.filter_predicate(filters);
begin
    -- Names a column of documents? Literals are removed first, because a value may contain "d.".
    if regexp_replace(predicate, '''(?:[^'']|'''')*''', '', 'g') ~ '\md\.' then
        execute format(
            $sql$
            select coalesce(array_agg(d.document_id), '{}')
            from pgrag.pages as p
            join pgrag.documents as d on d.library_id = p.library_id and d.page_id = p.page_id
            where p.library_id = any ($1) and p.version_id = any ($2) and d.covers & $3 <> 0 and %s
            $sql$,
            predicate
        )
        into target.allowed_documents
        using target.library_ids, target.version_ids, target.covers;
    elsif predicate <> 'true' then
        execute format(
            $sql$
            select coalesce(array_agg(p.page_id), '{}'), coalesce(sum(p.document_count), 0)
            from pgrag.pages as p
            where p.library_id = any ($1)
                and p.version_id = any ($2)
                -- The predicate of the index on types, true for all pages.
                and p.document_count >= 0
                and %s
            $sql$,
            predicate
        )
        into target.allowed_pages, target.document_count
        using target.library_ids, target.version_ids;
    end if;
    return target;
end;
$$;
