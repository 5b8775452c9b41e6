-- Impacts depend on the average length at the time of writing. When the library's average has
-- drifted from it, or weights change, everything is recomputed from the full-text vectors.
create or replace function pgrag.refresh_statistics(
    library text,
    drift double precision default 0.1
)
returns boolean
language plpgsql
volatile
set search_path from current
set work_mem = '128MB'
as $$
declare
    owner pgrag.libraries := _pgrag.lock_library(refresh_statistics.library);
begin
    if not exists (
        select
        from pgrag.corpus_statistics as c
        where c.library_id = owner.library_id
            and c.document_count > 0
            and (
                abs(c.total_length / c.document_count - c.average_length)
                    >= refresh_statistics.drift * c.average_length
                -- Page lengths vary more and matter less.
                or (
                    c.page_count > 0
                    and abs(c.total_page_length / c.page_count - c.average_page_length)
                        >= 4 * refresh_statistics.drift * c.average_page_length
                )
            )
    ) and not _pgrag.lacks_title_weights(owner.library_id) then
        return false;
    end if;
    perform _pgrag.rebuild_statistics(owner.library_id, owner.settings);
    return true;
end;
$$;

comment on function pgrag.refresh_statistics is
'Recomputes the impacts, counts and averages of a library from its full-text vectors if the average
length of its documents or pages has drifted from the average in use by the share drift or more, or
if they were written before titles had weights; returns whether it did. The average length of pages
may drift four times as far; drift 0 always recomputes. Scores are exact for the average in use,
before and after. Errors: PGR02.';

-- Whether pages were written before titles had weights; the impacts of these pages are outdated.
create or replace function _pgrag.lacks_title_weights(
    library_id bigint
)
returns boolean
language sql
stable
parallel safe
set search_path from current
as $$
    select exists (
        select
        from pgrag.pages as p
        where p.library_id = lacks_title_weights.library_id
            and p.title_weights is null
            and p.weights is not null
            -- A title of stop words alone never has weights.
            and _pgrag.title_vector(array[p.language], p.title) is not null
    );
$$;

create or replace function _pgrag.rebuild_statistics(
    library_id bigint,
    settings jsonb
)
returns void
language plpgsql
volatile
as $$
#variable_conflict use_column
declare
    page_ids bigint[] := array(
        select p.page_id
        from pgrag.pages as p
        where p.library_id = rebuild_statistics.library_id
        order by p.page_id
    );
    batch bigint[];
begin
    delete from pgrag.lexeme_statistics as s where s.library_id = rebuild_statistics.library_id;
    delete from pgrag.corpus_statistics as c where c.library_id = rebuild_statistics.library_id;
    insert into pgrag.corpus_statistics (
        library_id, language, average_length, average_page_length
    )
    select
        rebuild_statistics.library_id,
        d.language,
        avg(d.length),
        coalesce(sum(d.content_length) filter (where d.level = 2), 0)
            / greatest(count(distinct d.page_id) filter (where d.level = 2), 1)
            + coalesce(avg(d.header_length) filter (where d.level = 2), 0)
    from (
        select
            d.language,
            d.page_id,
            d.level,
            d.document_id,
            sum(t.header_frequency) as header_length,
            sum(t.content_frequency) as content_length,
            sum(t.header_frequency + t.content_frequency) as length
        from pgrag.documents as d
        cross join lateral pgrag.term_frequencies(
            d.search, _pgrag.field_weights(rebuild_statistics.settings)
        ) as t
        where d.library_id = rebuild_statistics.library_id
        group by d.language, d.page_id, d.level, d.document_id
    ) as d
    group by d.language;

    for nth in 1 .. cardinality(page_ids) by 500 loop
        batch := page_ids[nth : nth + 499];
        perform _pgrag.write_documents(
            rebuild_statistics.library_id, array_agg(d), array_agg(d.document_id),
            rebuild_statistics.settings
        )
        from pgrag.documents as d
        where d.library_id = rebuild_statistics.library_id and d.page_id = any (batch);
        perform _pgrag.rank_pages(
            rebuild_statistics.library_id, batch, rebuild_statistics.settings
        );
    end loop;
end;
$$;
