-- What the language model is sent. Question and sources go into their places in one pass: what a
-- reader or an author wrote is never taken for a place itself.
create or replace function pgrag._answer_messages(
    template text,
    question text,
    sources jsonb
)
returns jsonb
language plpgsql
stable
parallel safe
set search_path from current
as $$
declare
    used pgrag.answer_templates;
    ordinary pgrag.answer_templates;
    quoted text;
begin
    select t.* into used from pgrag.answer_templates as t where t.name = template;
    if used.name is null then
        raise exception 'There is no template %.', quote_nullable(left(template, 100))
            using errcode = 'PGR01',
                hint = coalesce(
                    (
                        select 'Templates: ' || string_agg(t.name, ', ' order by t.name) || '.'
                        from pgrag.answer_templates as t
                    ),
                    'None is stored: run `pgrag db upgrade`.'
                );
    end if;
    -- What holds for every answer is said once, in the template "default".
    select t.* into ordinary from pgrag.answer_templates as t where t.name = 'default';
    if used.name <> 'default' then
        used.system := replace(used.system, '{default}', rtrim(ordinary.system, E'\n'));
        used.prompt := replace(used.prompt, '{default}', ordinary.prompt);
    end if;
    quoted := coalesce(
        (
            select string_agg(
                pgrag._source_block(s.source, (s.source ->> 'number')::integer), E'\n'
                order by s.place
            )
            from jsonb_array_elements(sources) with ordinality as s (source, place)
        ),
        '(Nothing was found.)'
    );
    return jsonb_build_array(
        jsonb_build_object('role', 'system', 'content', used.system),
        jsonb_build_object(
            'role', 'user',
            'content',
            (
                select string_agg(
                    case p.part
                        when '{question}' then question
                        when '{sources}' then quoted
                        else p.part
                    end,
                    '' order by p.place
                )
                from regexp_split_to_table(
                    used.prompt,
                    '(?=\{question\}|\{sources\})|(?<=\{question\}|\{sources\})'
                ) with ordinality as p (part, place)
            )
        )
    );
end;
$$;
