-- An answer has the id of the search that found its sources, so both share their feedback. Errors
-- become warnings, as in record_search.
create or replace function pgrag.record_answer(
    search_id uuid,
    question text,
    status text,
    answer text default '',
    client text default 'sql',
    library text default null,
    version text default null,
    intent text default null,
    model text default null,
    sources jsonb default null,
    citations jsonb default '[]',
    trace jsonb default null,
    prompt_tokens integer default null,
    completion_tokens integer default null,
    timings jsonb default '{}',
    search_timings jsonb default null,
    parameters jsonb default null
)
returns uuid
language plpgsql
volatile
set search_path from current
as $$
#variable_conflict use_variable
declare
    recorded_id uuid := record_answer.search_id;
    owner text := coalesce(
        lower(btrim(record_answer.library)),
        -- Without a name, the search was in the only library.
        (select min(l.name) from pgrag.libraries as l having count(*) = 1)
    );
    label text := lower(btrim(record_answer.version));
begin
    if not _pgrag.may_record() then
        return null;
    end if;
    if recorded_id is null or not exists (
        select from pgrag.searches as s where s.search_id = recorded_id
    ) then
        recorded_id := _pgrag.write_search(
            question, coalesce(sources, '[]'), client, owner, label, false, parameters,
            search_timings,
            (
                select sum(t.value::double precision)
                from jsonb_each_text(
                    case when jsonb_typeof(search_timings) = 'object' then search_timings end
                ) as t (step, value)
            ),
            recorded_id
        );
    end if;
    if recorded_id is not null and has_table_privilege('pgrag.answers', 'insert') then
        insert into pgrag.answers (
            search_id, client, question, library, version, intent, model, status, answer,
            citations, trace, prompt_tokens, completion_tokens, timings, caller
        )
        values (
            recorded_id, left(coalesce(client, 'sql'), 100),
            left(coalesce(question, ''), 10000),
            owner, label, intent, model, status, left(coalesce(answer, ''), 1000000),
            coalesce(citations, '[]'), trace, prompt_tokens, completion_tokens,
            coalesce(timings, '{}'), _pgrag.caller()
        )
        on conflict do nothing;
    end if;
    return recorded_id;
exception
    when others then
        raise warning 'The answer was not recorded: %', sqlerrm;
        return null;
end;
$$;

comment on function pgrag.record_answer is
'Records an answer and returns the search_id, which give_feedback takes. search_id: the recorded
search that found the sources; if there is no such record (null: a new id), the search is recorded
too, with the question as its query, sources (those of answer_context) as its hits, search_timings
(milliseconds by step; their sum is the duration) and parameters. status: answered,
not_in_documentation, failed or cancelled. client: the caller, such as rest, cli or mcp. citations,
trace: the citations of the answer and the steps that led to it, stored as given. timings:
milliseconds by step; "total" is the whole answer. A second record of the same search_id changes
nothing. Returns null, and writes nothing, if the transaction or the role is read-only; if writing
fails, also with a WARNING.';
