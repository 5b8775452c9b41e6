-- Waits until this server shows what its primary had written up to a position of its log. Before the
-- statement that reads, in its transaction, so that a pooler cannot send the two to two servers. The
-- error is the one of a conflict with recovery: for both the primary answers instead.
create or replace function _pgrag.await_replay(
    log_position pg_lsn,
    patience interval
)
returns void
language plpgsql
volatile
as $$
declare
    deadline constant timestamptz := clock_timestamp() + patience;
    pause double precision := 0.001;
begin
    while pg_catalog.pg_is_in_recovery()
        and pg_catalog.pg_last_wal_replay_lsn() operator(pg_catalog.<) log_position
    loop
        if clock_timestamp() operator(pg_catalog.>) deadline then
            raise exception 'The standby has not followed to % within %.', log_position, patience
                using errcode = 'serialization_failure';
        end if;
        perform pg_catalog.pg_sleep(pause);
        pause := least(2 * pause, 0.02);
    end loop;
end;
$$;
