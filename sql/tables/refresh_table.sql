create or replace function pgrag.refresh_table(
    library text,
    rows integer default null,
    compare boolean default false
)
returns table (
    written bigint,
    unchanged bigint,
    removed bigint,
    failed bigint,
    waiting bigint
)
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    owner constant pgrag.libraries := _pgrag.lock_library(refresh_table.library);
    definition pgrag.indexed_tables;
    last_id bigint;
    compares boolean;
    batch record;
    done record;
    room integer := refresh_table.rows;
begin
    perform _pgrag.check_range('rows', coalesce(refresh_table.rows, 1), 1, 1000000000);
    definition := _pgrag.table_definition(owner);
    written := 0;
    unchanged := 0;
    removed := 0;
    failed := 0;
    compares := refresh_table.compare or coalesce(
        (
            select bool_or(c.row_key is null)
            from pgrag.changed_rows as c
            where c.library_id = owner.library_id
        ),
        not definition.watched
    );
    if compares then
        perform _pgrag.note_differences(definition);
    end if;
    -- What is noted from here on is for the next call.
    last_id := (
        select max(c.change_id) from pgrag.changed_rows as c where c.library_id = owner.library_id
    );
    loop
        batch := _pgrag.take_changed_rows(
            owner.library_id, last_id, least(coalesce(room, 500), 500)
        );
        exit when batch.keys is null;
        done := _pgrag.write_rows(owner.name, definition, batch.keys);
        written := written + done.written;
        unchanged := unchanged + done.unchanged;
        removed := removed + done.removed;
        failed := failed + done.failed;
        room := room - batch.notes;
        exit when room <= 0;
    end loop;
    -- What describes a version reads all of its pages: not for each row that changes.
    if written + removed >= 1000 or exists (
        select
        from pgrag.versions as v
        where v.library_id = owner.library_id
            and (
                v.status <> 'ready'
                or v.described_at is null
                or v.updated_at > v.described_at and v.described_at < now() - interval '10 minutes'
            )
    ) then
        perform pgrag.finish_version(owner.name);
    elsif written + removed > 0 then
        perform _pgrag.refresh_impacts(owner.library_id, owner.settings);
    end if;
    waiting := (
        select count(*) from pgrag.changed_rows as c where c.library_id = owner.library_id
    );
    return next;
end;
$$;

comment on function pgrag.refresh_table is
'Brings the library of an indexed table (see index_table) up to date: reads the rows that triggers
have noted, writes the pages of those that have changed, removes those of rows that are gone, and
embeds the texts if the library''s model is the built-in one (else pgrag embed LIBRARY does).
rows: the maximum number of notes; default: all. Then call it again while waiting is above 0.
compare: compares all rows with the pages first, as it always does after truncate, after
index_table, and where there are no triggers: for what no trigger sees, such as subscriptions, or
changes of a partition that is newer than the triggers.
Returns the pages written, rows read without a change, pages removed, rows that cannot be stored (a
warning names each with the reason; its page stays as it was, and compare tries it again), and notes
that are left.
Transactions of the table do not wait for it; other writers of the library do. A pgrag worker calls
it by itself; so may pg_cron: select pgrag.refresh_table(''tickets'').
Rights: those of the caller, who must be able to write the library and to read every row of the
table: 42501 if row-level security of the table hides any, if the table is a view or has types of a
role without the rights of the caller, or if the role that indexed it may not read all of it.
Errors: PGR01 if the table or a column is gone, or two rows have one key; PGR02.';

-- Notes the rows whose page is missing or made of other contents, and the pages without a row. The
-- comparison sees every change that is noted so far.
create or replace function _pgrag.note_differences(
    definition pgrag.indexed_tables
)
returns void
language sql
volatile
as $$
    delete from pgrag.changed_rows as c where c.library_id = definition.library_id;
    insert into pgrag.changed_rows (library_id, row_key)
    select definition.library_id, coalesce(r.key, p.key)
    from _pgrag.read_rows(definition) as r
    full join (
        select p.key, p.source_hash from pgrag.pages as p where p.library_id = definition.library_id
    ) as p on p.key = r.key
    where p.source_hash is distinct from r.hash;
$$;

-- Takes the oldest notes, at most this many and up to an id. keys is null if there is none.
create or replace function _pgrag.take_changed_rows(
    library_id bigint,
    last_id bigint,
    most integer,
    out keys text[],
    out notes integer
)
returns record
language sql
volatile
as $$
    with taken as (
        delete from pgrag.changed_rows as c
        where c.library_id = take_changed_rows.library_id
            and c.change_id = any (array(
                select n.change_id
                from pgrag.changed_rows as n
                where n.library_id = take_changed_rows.library_id
                    and n.change_id <= take_changed_rows.last_id
                    and n.row_key is not null
                order by n.change_id
                limit take_changed_rows.most
            ))
        returning c.row_key
    )
    select array_agg(distinct t.row_key), count(*)::integer from taken as t;
$$;

-- The pages of rows with these keys; one that PostgreSQL cannot store, such as a key too long for
-- an index, fails alone, and does not keep the others waiting.
create or replace function _pgrag.write_rows(
    library text,
    definition pgrag.indexed_tables,
    keys text[],
    out written bigint,
    out unchanged bigint,
    out removed bigint,
    out failed bigint
)
returns record
language plpgsql
volatile
as $$
declare
    pages jsonb;
    found text[];
    key text;
    part record;
    reason text;
begin
    written := 0;
    unchanged := 0;
    removed := 0;
    failed := 0;
    begin
        select jsonb_agg(r.page), coalesce(array_agg(r.key), '{}')
        into pages, found
        from _pgrag.read_rows(definition, keys) as r;
        perform _pgrag.refuse_equal_keys(definition, found);
        if pages is not null then
            select
                count(*) filter (where i.status = 'written'),
                count(*) filter (where i.status = 'unchanged')
            into written, unchanged
            from pgrag.ingest_pages(write_rows.library, pages, resolve => false) as i;
            perform pgrag.embed_pending(write_rows.library);
        end if;
        if cardinality(found) < cardinality(keys) then
            removed := pgrag.remove_pages(
                write_rows.library, array(select unnest(keys) except select unnest(found))
            );
        end if;
        return;
    exception
        when data_exception or program_limit_exceeded or integrity_constraint_violation then
            reason := sqlerrm;
    end;
    if cardinality(keys) = 1 then
        raise warning 'The row % of % cannot be stored: %.',
            quote_literal(left(keys[1], 200)), definition.source, rtrim(reason, '.');
        failed := 1;
        return;
    end if;
    foreach key in array keys loop
        part := _pgrag.write_rows(write_rows.library, definition, array[key]);
        written := written + part.written;
        unchanged := unchanged + part.unchanged;
        removed := removed + part.removed;
        failed := failed + part.failed;
    end loop;
end;
$$;

-- Only a view can have them: the columns of a table have a unique index.
create or replace function _pgrag.refuse_equal_keys(
    definition pgrag.indexed_tables,
    keys text[]
)
returns void
language plpgsql
stable
parallel safe
as $$
declare
    repeated constant text := (
        select k.key from unnest(keys) as k (key) group by k.key having count(*) > 1 limit 1
    );
begin
    if repeated is not null then
        raise exception 'Several rows of % have the key %.',
            definition.source, quote_literal(repeated)
            using errcode = 'PGR01',
                hint = 'Index it again with the columns that tell its rows apart: id => ''…''.';
    end if;
end;
$$;
