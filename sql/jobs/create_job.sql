-- A job brings a version to the state of a source. An equal job that waits is used again, so a
-- client may repeat a request.
create or replace function pgrag.create_job(
    library text,
    arguments jsonb,
    version text default '',
    every interval default null,
    priority integer default 0,
    run_at timestamptz default null,
    max_attempts integer default 3,
    confined boolean default true,
    uploading boolean default false,
    most_jobs integer default null
)
returns bigint
language plpgsql
volatile
set search_path from current
as $$
declare
    library_name constant text := lower(btrim(create_job.library));
    label constant text := lower(btrim(coalesce(create_job.version, '')));
    source constant text := create_job.arguments ->> 'source';
    is_upload constant boolean := coalesce(create_job.uploading, false);
    is_confined constant boolean := coalesce(create_job.confined, true);
    new_id bigint;
begin
    perform _pgrag.check_names(library_name, label);
    perform _pgrag.check_range('priority', create_job.priority, -100, 100);
    perform _pgrag.check_range('max_attempts', create_job.max_attempts, 1, 100);
    if create_job.every not between interval '1 minute' and interval '10 years' then
        raise exception 'A job repeats every minute to every 10 years, not every %.',
            create_job.every
            using errcode = 'PGR01', hint = 'Pass an interval such as 1 day, or null for once.';
    elsif create_job.priority <> 0 and not _pgrag.is_admin() then
        raise exception 'priority must be 0, not %.', create_job.priority
            using errcode = 'PGR01',
                hint = 'Only administrators set it: jobs of all others take turns.';
    elsif not is_confined and not _pgrag.is_admin() then
        raise exception 'confined must be true, not false.'
            using errcode = 'PGR01',
                hint = 'Only administrators make jobs that read any folder of a worker.';
    elsif jsonb_typeof(create_job.arguments) is distinct from 'object' then
        raise exception 'arguments must be a JSON object, not %.',
            coalesce(jsonb_typeof(create_job.arguments), 'null')
            using errcode = 'PGR01', hint = 'Pass arguments => ''{"source": "/folder"}''.';
    elsif not is_upload and nullif(btrim(source), '') is null then
        raise exception 'A job needs a source, not %.', quote_nullable(source)
            using errcode = 'PGR01',
                hint = 'Pass arguments => ''{"source": "/folder"}'', or make an upload.';
    elsif is_upload and create_job.every is not null then
        raise exception 'An upload is indexed once, and not every %.', create_job.every
            using errcode = 'PGR01', hint = 'Upload again what has changed.';
    end if;
    perform _pgrag.check_address(source);
    perform _pgrag.check_base_url(create_job.arguments ->> 'base_url');
    if not exists (select from pgrag.libraries as l where l.name = library_name) then
        perform _pgrag.require_right_to_create(library_name);
    end if;
    if not is_upload then
        update pgrag.jobs as j
        set run_at = least(j.run_at, coalesce(create_job.run_at, now())),
            every = coalesce(create_job.every, j.every)
        where j.library = library_name
            and j.version = label
            and j.state = 'queued'
            and j.arguments = create_job.arguments
            and j.confined = is_confined
            -- The job of another caller would end with the key of that caller.
            and j.asked_by = _pgrag.caller()
        returning j.job_id into new_id;
        if create_job.priority > 0 then
            update pgrag.jobs as j
            set priority = greatest(j.priority, create_job.priority)
            where j.job_id = new_id;
        end if;
    end if;
    if new_id is null then
        perform _pgrag.require_room(_pgrag.caller(), create_job.most_jobs);
        insert into pgrag.jobs as j (
            library, version, arguments, confined, asked_by, priority, state, max_attempts,
            run_at, every
        )
        values (
            library_name, label, create_job.arguments, is_confined, _pgrag.caller(),
            create_job.priority, case when is_upload then 'uploading' else 'queued' end,
            create_job.max_attempts, coalesce(create_job.run_at, now()), create_job.every
        )
        returning j.job_id into new_id;
    end if;
    -- Workers listen, and poll, because a notification may be lost. It is empty, because every role
    -- may listen.
    perform pg_notify('pgrag_jobs', '');
    return new_id;
end;
$$;

comment on function pgrag.create_job is
'Makes a job for a worker (pgrag worker, pgrag serve): to bring a version of a library to the state
of a source. Returns its job_id; an equal job of the caller that waits already is used again.
arguments: "source" and the options of pgrag index by their names, such as "max_pages": 500 or
"tags": "v1.*". every: the pause before the next run. priority: -100 to 100, higher first; only
administrators may pass another than 0. Jobs of equal priority take turns between those who asked.
run_at: not before; default: now. max_attempts: the job fails for good after this number of
failures. most_jobs: how many jobs of the caller may wait, run or be scheduled; null: 1000, of
administrators any number.
confined: a worker reads only folders of PGRAG_MCP_ROOTS and addresses that its operator allows, and
uses no credentials; only administrators may pass false. An address holds no name, password or key,
but SSH may have a name. uploading: it reads the pieces of an upload, and waits for
_pgrag.submit_upload. Errors: PGR01, PGR02 for a library that the caller may not make, PGR20 for
more than most_jobs.';

-- Sources are stored, and shown to all who may read the library. SSH needs a name before the host,
-- which is not a secret; a name for the web may be a token. A parameter is secret by the last word
-- of its name: access_token and X-Amz-Signature, but not author or keyword.
create or replace function _pgrag.check_address(
    source text
)
returns void
language plpgsql
immutable
parallel safe
as $$
begin
    if source ~* '^\s*[a-z][a-z0-9+.-]*://[^/?#]*@'
        and source !~* '^\s*(git\+)?ssh://[^/?#:@]*@[^/?#@]*(/|$)'
    then
        raise exception 'The address of a source must have no name or password in it.'
            using errcode = 'PGR01',
                hint = 'All who may read the library see it. git takes the login of a job of the'
                    ' operator from a credential helper of the worker''s account.';
    elsif source ~* (
        '^\s*[a-z][a-z0-9+.-]*://[^?#]*\?([^#]*&)?([^=&#]*[_.-])?'
        '(pass(word|wd)?|secret|(access|auth)?token|(api)?key|sig(nature)?|auth|credential)=[^&#]'
    ) then
        raise exception 'The address of a source must have no key in it, such as "?token=".'
            using errcode = 'PGR01',
                hint = 'All who may read the library see it. Index what needs a key from a folder.';
    end if;
end;
$$;
