create or replace function pgrag.ingest_page(
    library text,
    page jsonb,
    version text default '',
    language text default null
)
returns table (
    page_id bigint,
    key text,
    status text,
    documents integer
)
language plpgsql
volatile
set search_path from current
as $$
begin
    if jsonb_typeof(ingest_page.page) is distinct from 'object' then
        raise exception 'page must be a JSON object, got %.',
            coalesce(jsonb_typeof(ingest_page.page), 'null')
            using errcode = 'PGR01', hint = 'See the comment of pgrag.ingest_page.';
    end if;
    return query
    select i.page_id, i.key, i.status, i.documents
    from pgrag.ingest_pages(
        ingest_page.library, jsonb_build_array(ingest_page.page), ingest_page.version,
        ingest_page.language
    ) as i;
    perform pgrag.embed_pending(ingest_page.library);
    perform pgrag.finish_version(ingest_page.library, ingest_page.version);
end;
$$;

comment on function pgrag.ingest_page is
'Writes one page into a version of a library and embeds it if the library''s model is the built-in
one. page: {"key": "guide/install.md", "title": …, "url": …, "path": […], "body": …, "front_matter":
{…}, "uuid", "link", "topic", "type", "tags": […], "language", "created", "created_from" (front
matter, name, git, file or server), "modified", "modified_from", "source_hash", "warnings": […],
"documents": [{"content": …, "level": 2, "covers": 4, "parent": index of another passage, "heading",
"heading_level", "depth", "path": […], "root_section", "position", "types": […], "anchor",
"overlap", "is_summary", "line_start", "line_end"}, …], "aliases": […], "edges": [{"target":
"install.md", "fragment": "linux", "rule": "explicit:link", "kind": "references", "confidence": 1,
"line": 12, "document": index of the passage it is in, "text", "sentence"}, …], "words_shown": words
that a reader of the file sees, "words_kept": those of them in the body}.
Only key is required; without "documents" the body is one passage. Of an edge only target is
required ("" is the same page; with rule "explicit:link" it is an address, otherwise a name as in a
wikilink); edges replace the page''s earlier edges. Errors: PGR01.';
