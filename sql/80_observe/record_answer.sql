-- What was answered, beside the search that found its sources: feedback to the one is feedback to
-- the other. As in record_search, nothing that goes wrong here may cost anybody an answer.
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
    found_id uuid := record_answer.search_id;
    owner text := coalesce(
        lower(btrim(record_answer.library)),
        -- Who names none has searched the only one there is.
        (select min(l.name) from pgrag.libraries as l having count(*) = 1)
    );
    label text := lower(btrim(record_answer.version));
begin
    if not pgrag._may_record() then
        return null;
    end if;
    if found_id is null or not exists (
        select from pgrag.searches as s where s.search_id = found_id
    ) then
        found_id := pgrag._write_search(
            question, coalesce(sources, '[]'), client, owner, label, false, parameters,
            search_timings,
            (
                select sum(t.value::double precision)
                from jsonb_each_text(
                    case when jsonb_typeof(search_timings) = 'object' then search_timings end
                ) as t (step, value)
            ),
            found_id
        );
    end if;
    if found_id is not null and has_table_privilege('pgrag.answers', 'insert') then
        insert into pgrag.answers (
            search_id, client, question, library, version, intent, model, status, answer,
            citations, trace, prompt_tokens, completion_tokens, timings
        )
        values (
            found_id, left(coalesce(client, 'sql'), 100), left(coalesce(question, ''), 10000),
            owner, label, intent, model, status, left(coalesce(answer, ''), 1000000),
            coalesce(citations, '[]'), trace, prompt_tokens, completion_tokens,
            coalesce(timings, '{}')
        )
        on conflict do nothing;
    end if;
    return found_id;
exception
    when others then
        raise warning 'The answer was not recorded: %', sqlerrm;
        return null;
end;
$$;

comment on function pgrag.record_answer(uuid, text, text, text, text, text, text, text, text, jsonb, jsonb, jsonb, integer, integer, jsonb, jsonb, jsonb) is
'Records an answer and returns the search_id, which give_feedback takes. search_id: that of the
recorded search that found the sources; where none is recorded under it (null: a new id), the search
is recorded too, with the question as its query, sources (those of answer_context) as its hits,
search_timings (milliseconds by step; their sum is what it took) and parameters. status: answered,
not_in_documentation, failed or cancelled. client: who asked, such as rest, cli or mcp. citations,
trace: what the answer cites and how it came about, as they are. timings: milliseconds by step;
"total" is what the whole answer took. A second record of the same search_id changes nothing.
Returns null, and writes nothing, where the transaction or the role only reads; where writing fails,
also with a WARNING.';
