-- Uploads are stored in pieces, so that nobody holds a whole file in memory. A field of a form that
-- is no file is kept as a piece of file -1, for the report to name.
create or replace function _pgrag.add_upload_piece(
    job_id bigint,
    file integer,
    piece integer,
    name text,
    data bytea,
    media_type text default '',
    allowance bigint default null
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    uploading pgrag.jobs := _pgrag.job_of(add_upload_piece.job_id);
    stored bigint;
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
    -- A piece that is sent again replaces the stored one.
    stored := uploading.uploaded_bytes + octet_length(add_upload_piece.data) - coalesce((
        select octet_length(u.data)
        from pgrag.uploads as u
        where u.job_id = uploading.job_id
            and u.file = add_upload_piece.file
            and u.piece = add_upload_piece.piece
    ), 0);
    if stored > uploading.reserved_bytes then
        perform _pgrag.reserve_upload(uploading.job_id, stored, add_upload_piece.allowance);
    end if;
    insert into pgrag.uploads as u (job_id, file, piece, name, media_type, data)
    values (
        uploading.job_id, add_upload_piece.file, add_upload_piece.piece, add_upload_piece.name,
        coalesce(add_upload_piece.media_type, ''), add_upload_piece.data
    )
    on conflict (job_id, file, piece) do update
    set name = excluded.name, media_type = excluded.media_type, data = excluded.data;
    update pgrag.jobs as j
    set uploaded_bytes = stored
    where j.job_id = uploading.job_id;
end;
$$;

-- Keeps bytes free for the upload of a job. allowance: the bytes that all uploads may take
-- together, and nobody more than half of them; null: no limit. One after the other, so that it is
-- exact.
create or replace function _pgrag.reserve_upload(
    job_id bigint,
    bytes bigint,
    allowance bigint default null
)
returns void
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_column
declare
    uploading pgrag.jobs := _pgrag.job_of(reserve_upload.job_id);
    own bigint;
    total bigint;
begin
    if reserve_upload.allowance is not null then
        perform pg_advisory_xact_lock(hashtextextended('pgrag uploads', 0));
        select
            coalesce(sum(j.reserved_bytes), 0),
            coalesce(sum(j.reserved_bytes) filter (where j.asked_by = uploading.asked_by), 0)
        into total, own
        from pgrag.jobs as j
        where j.reserved_bytes > 0 and j.job_id <> uploading.job_id;
        if own + reserve_upload.bytes > reserve_upload.allowance / 2 then
            perform _pgrag.refuse_beyond(
                format(
                    'The uploads of %s may take %s bytes together, half of what all may take: %s'
                    ' are taken, and this one has %s.',
                    uploading.asked_by, reserve_upload.allowance / 2, own, reserve_upload.bytes
                ),
                'Wait until jobs of other uploads have ended, or cancel them; one that failed keeps'
                ' its upload for a day, unless it is cancelled. The operator may raise'
                ' PGRAG_MAX_WAITING_UPLOAD_BYTES.'
            );
        elsif total + reserve_upload.bytes > reserve_upload.allowance then
            perform _pgrag.refuse_beyond(
                format(
                    'Uploads that wait may take %s bytes together, and there is no room for %s.',
                    reserve_upload.allowance, reserve_upload.bytes
                ),
                'Send it again later. The operator may raise PGRAG_MAX_WAITING_UPLOAD_BYTES.'
            );
        end if;
    end if;
    update pgrag.jobs as j
    set reserved_bytes = greatest(j.reserved_bytes, reserve_upload.bytes)
    where j.job_id = uploading.job_id;
end;
$$;
