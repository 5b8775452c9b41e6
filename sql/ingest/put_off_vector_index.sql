-- To insert a vector into an HNSW index takes four times as long as its part of a build, or longer
-- (0.4 to 0.9 ms, 0.11 to 0.17 ms): so a run that adds a third to what is there builds it anew. The
-- lock on the table is waited for only a moment, because other sessions queue behind whoever waits.
create or replace function pgrag.put_off_vector_index(
    model text,
    expected integer,
    stored integer default 0
)
returns boolean
language plpgsql
volatile
set search_path from current
set lock_timeout = '100ms'
as $$
declare
    used_id constant bigint := _pgrag.model_id(put_off_vector_index.model);
    exact_limit constant integer := pgrag.default_settings() ->> 'exact_limit';
    vectors_before integer;
begin
    perform _pgrag.check_given('model', put_off_vector_index.model);
    perform _pgrag.check_range('expected', put_off_vector_index.expected, 0, 1000000000);
    perform _pgrag.check_range('stored', put_off_vector_index.stored, 0, 1000000000);
    select count(*)
    into vectors_before
    from (
        select
        from pgrag.libraries as l
        cross join lateral (
            select
            from pgrag.embeddings as e
            where e.library_id = l.library_id and e.model_id = used_id
            offset 0
        ) as e
        limit exact_limit + put_off_vector_index.stored + 1
    ) as e;
    vectors_before := vectors_before - put_off_vector_index.stored;
    if vectors_before > exact_limit
        or vectors_before > 3::bigint * put_off_vector_index.expected
        or not (
            select pg_has_role(c.relowner, 'usage')
            from pg_class as c
            where c.oid = 'pgrag.embeddings'::regclass
        )
        -- Another session has put off the index, or builds it.
        or not pg_try_advisory_xact_lock(
            hashtextextended('pgrag vector index ' || put_off_vector_index.model, 0)
        )
    then
        return false;
    end if;
    execute format('drop index if exists pgrag.embeddings_hnsw_%s', used_id);
    return true;
exception
    when lock_not_available then
        return false;
end;
$$;

comment on function pgrag.put_off_vector_index is
'Drops the HNSW index of a model before many vectors are stored, if to build it again afterwards
(see vector_index_state) takes less time than to insert them, and if there were so few before that
every search scans them. expected: how many vectors are stored in all, as far as it is known;
stored: how many of them are stored already. Returns whether the index is gone: not if other
sessions keep the table for more than 100 ms or have put off the index themselves, nor unless the
caller owns the table. Errors: PGR01, PGR09.';
