-- Refuses another job of somebody who has too many that wait or run. most null: 1000 for writers,
-- no limit for administrators. One after the other for each of those who ask, so that it is exact.
create or replace function _pgrag.require_room(
    asked_by text,
    most integer
)
returns void
language plpgsql
volatile
as $$
declare
    limit_of_jobs constant integer :=
        coalesce(require_room.most, case when _pgrag.is_admin() is false then 1000 end);
begin
    if limit_of_jobs is null then
        return;
    end if;
    perform pg_advisory_xact_lock(
        hashtextextended('pgrag jobs of ' || require_room.asked_by, 0)
    );
    if limit_of_jobs <= (
        select count(*)
        from pgrag.jobs as j
        where j.asked_by = require_room.asked_by
            and j.state in ('uploading', 'queued', 'running')
    ) then
        perform _pgrag.refuse_beyond(
            format(
                '%s has %s jobs that wait, run or are scheduled: it may not have more.',
                require_room.asked_by, limit_of_jobs
            ),
            'Wait until some have ended, or cancel some. The operator of a service may raise'
            ' PGRAG_MAX_WAITING_JOBS.'
        );
    end if;
end;
$$;

create or replace function _pgrag.refuse_beyond(
    message text,
    hint text
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    raise exception '%', refuse_beyond.message
        using errcode = 'PGR20', hint = refuse_beyond.hint;
end;
$$;
