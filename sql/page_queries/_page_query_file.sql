-- The file.* fields of a page, as SQL expressions over the page p.
create or replace function _pgrag.page_query_file()
returns table (
    name text,
    expression text
)
language sql
immutable
parallel safe
as $$
    values
        ('name', 'to_jsonb(regexp_replace(p.key, ''^.*/|\.[^./]*$'', '''', ''g''))'),
        ('path', 'to_jsonb(p.key)'),
        ('folder', 'to_jsonb(coalesce(substring(p.key from ''^(.*)/[^/]*$''), ''''))'),
        ('ext', 'to_jsonb(substring(p.key from ''\.([^./]*)$''))'),
        ('link', '_pgrag.page_link(p.key)'),
        ('title', 'to_jsonb(p.title)'),
        ('url', 'to_jsonb(p.url)'),
        ('type', 'to_jsonb(p.type)'),
        ('language', 'to_jsonb(p.language_code)'),
        ('plain_tags', 'to_jsonb(nullif(p.tags, ''{}''))'),
        ('tags', '_pgrag.page_tags(p.tags, true)'),
        ('etags', '_pgrag.page_tags(p.tags, false)'),
        ('aliases', 'to_jsonb(p.aliases)'),
        ('ctime', '_pgrag.moment_text(p.created at time zone ''UTC'')'),
        ('mtime', '_pgrag.moment_text(p.modified at time zone ''UTC'')'),
        ('cday', 'to_jsonb((p.created at time zone ''UTC'')::date)'),
        ('mday', 'to_jsonb((p.modified at time zone ''UTC'')::date)'),
        ('day', '_pgrag.page_text_function(''date'', array[to_jsonb(coalesce('
            || 'substring(p.key from ''\d{4}-\d\d-\d\d(?=[^/]*$)''), '
            || 'case when p.created_from = ''name'' then '
            || 'to_char(p.created at time zone ''UTC'', ''YYYY-MM-DD'') end))])'),
        ('size', 'to_jsonb(octet_length(p.head) + octet_length(p.body))'),
        ('inlinks', '_pgrag.page_links(p.library_id, p.page_id, false)'),
        ('outlinks', '_pgrag.page_links(p.library_id, p.page_id, true)'),
        ('tasks', '_pgrag.page_tasks(p.key, p.head, p.body)'),
        ('frontmatter', 'p.front_matter');
$$;
