-- The uploaded files, which a worker writes to disk.
create or replace function _pgrag.upload_pieces(
    job_id bigint
)
returns table (
    file integer,
    piece integer,
    name text,
    media_type text,
    data bytea
)
language sql
stable
parallel safe
set search_path from current
as $$
    select u.file, u.piece, u.name, u.media_type, u.data
    from pgrag.uploads as u
    where u.job_id = upload_pieces.job_id
    order by u.file, u.piece;
$$;
