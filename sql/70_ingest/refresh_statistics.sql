-- The impacts hold the average length that they were made with. When the library has drifted away
-- from it, or its weights change, everything is made anew from the full-text vectors.
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
    owner record;
begin
    select l.library_id, pgrag.effective_settings(l.settings) as settings
    into owner
    from pgrag.libraries as l
    where l.library_id = pgrag._library_id(refresh_statistics.library)
    for no key update;

    if not exists (
        select
        from pgrag.corpus_statistics as c
        where c.library_id = owner.library_id
            and c.document_count > 0
            and (
                abs(c.total_length / c.document_count - c.average_length)
                    >= refresh_statistics.drift * c.average_length
                -- The lengths of pages vary more, and weigh less.
                or (
                    c.page_count > 0
                    and abs(c.total_page_length / c.page_count - c.average_page_length)
                        >= 4 * refresh_statistics.drift * c.average_page_length
                )
            )
    ) then
        return false;
    end if;
    perform pgrag._rebuild_statistics(owner.library_id, owner.settings);
    return true;
end;
$$;

comment on function pgrag.refresh_statistics(text, double precision) is
'Rewrites the impacts, counts and averages of a library from its full-text vectors where the average
length of its documents or pages has moved away from the one in use by more than the share drift
(0: in any case); returns whether it did. Scores are exact before and after; the averages differ.
Errors: PGR02.';

create or replace function pgrag._rebuild_statistics(
    library_id bigint,
    settings jsonb
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    batch bigint[];
begin
    delete from pgrag.lexeme_statistics as s where s.library_id = _rebuild_statistics.library_id;
    delete from pgrag.corpus_statistics as c where c.library_id = _rebuild_statistics.library_id;
    insert into pgrag.corpus_statistics (
        library_id, language, average_length, average_page_length
    )
    select
        _rebuild_statistics.library_id,
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
            d.search, pgrag._field_weights(_rebuild_statistics.settings)
        ) as t
        where d.library_id = _rebuild_statistics.library_id
        group by d.language, d.page_id, d.level, d.document_id
    ) as d
    group by d.language;

    for batch in
        select array_agg(p.page_id)
        from (
            select p.page_id, (row_number() over (order by p.page_id) - 1) / 500 as number
            from pgrag.pages as p
            where p.library_id = _rebuild_statistics.library_id
        ) as p
        group by p.number
        order by p.number
    loop
        perform pgrag._write_documents(
            _rebuild_statistics.library_id,
            array(
                select d
                from pgrag.documents as d
                where d.library_id = _rebuild_statistics.library_id and d.page_id = any (batch)
            ),
            array(
                select d.document_id
                from pgrag.documents as d
                where d.library_id = _rebuild_statistics.library_id and d.page_id = any (batch)
            ),
            _rebuild_statistics.settings
        );
        perform pgrag._rank_pages(
            _rebuild_statistics.library_id, batch, _rebuild_statistics.settings
        );
    end loop;
end;
$$;

-- Settings that shape the impacts bring them along in the same transaction.
create or replace function pgrag.configure_library(
    library text,
    settings jsonb
)
returns jsonb
language plpgsql
volatile
set search_path from current
as $$
declare
    owner_id bigint := pgrag._library_id(configure_library.library);
    before jsonb;
    after jsonb;
    unknown text;
begin
    select string_agg(k, ', ')
    into unknown
    from jsonb_object_keys(configure_library.settings) as k
    where not pgrag.default_settings() ? k;
    if unknown is not null then
        raise exception 'There is no library setting %.', unknown
            using errcode = 'PGR01',
                hint = 'Settings: ' || (
                    select string_agg(k, ', ' order by k)
                    from jsonb_object_keys(pgrag.default_settings()) as k
                ) || '.';
    end if;
    select pgrag.effective_settings(l.settings)
    into before
    from pgrag.libraries as l
    where l.library_id = owner_id
    for no key update;
    update pgrag.libraries as l
    set settings = jsonb_strip_nulls(l.settings || configure_library.settings)
    where l.library_id = owner_id
    returning pgrag.effective_settings(l.settings) into after;

    if (before - 'alpha' - 'page_evidence' - 'exact_limit')
        <> (after - 'alpha' - 'page_evidence' - 'exact_limit')
    then
        perform pgrag._rebuild_statistics(owner_id, after);
    end if;
    return after;
end;
$$;

comment on function pgrag.configure_library(text, jsonb) is
'Changes retrieval settings of a library (see default_settings; null takes one back to its default)
and returns those now in force. Changed field weights, k1 or b rewrite the library''s impacts in the
same transaction. Errors: PGR01, PGR02.';
