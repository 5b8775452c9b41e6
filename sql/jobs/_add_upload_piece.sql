-- Uploads are stored in pieces, so that nobody holds a whole file in memory.
create or replace function _pgrag.add_upload_piece(
    job_id bigint,
    file integer,
    piece integer,
    name text,
    data bytea,
    media_type text default ''
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    uploading pgrag.jobs := _pgrag.job_of(add_upload_piece.job_id);
begin
    if uploading.state <> 'uploading' then
        raise exception 'Job % takes no upload: it is %.', uploading.job_id, uploading.state
            using errcode = 'PGR01', hint = 'Make a job with uploading => true.';
    elsif add_upload_piece.file is null
        or add_upload_piece.piece is null
        or add_upload_piece.name is null
        or add_upload_piece.data is null
    then
        raise exception 'A piece needs file, piece, name and data.'
            using errcode = 'PGR01', hint = 'Files and pieces are counted from 0.';
    elsif octet_length(add_upload_piece.data) > 4194304 then
        raise exception 'A piece has at most 4194304 bytes, not %.',
            octet_length(add_upload_piece.data)
            using errcode = 'PGR01', hint = 'Send it in several pieces.';
    end if;
    insert into pgrag.uploads as u (job_id, file, piece, name, media_type, data)
    values (
        uploading.job_id, add_upload_piece.file, add_upload_piece.piece, add_upload_piece.name,
        coalesce(add_upload_piece.media_type, ''), add_upload_piece.data
    )
    on conflict (job_id, file, piece) do update
    set name = excluded.name, media_type = excluded.media_type, data = excluded.data;
end;
$$;
