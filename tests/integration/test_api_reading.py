"""A route that reads answers what its SQL function answers, for the same arguments."""

import pytest
from promised_shapes import assert_answered

#: An address, the member of its answer ("": all of it), and the call it stands for.
ROUTES = [
    ("libraries", "libraries", "libraries()"),
    ("search/libraries?q=depth sill&top_k=1", "libraries", "find_libraries('depth sill', 1)"),
    ("libraries/harbour/versions", "versions", "library_versions('harbour')"),
    ("libraries/harbour/versions/2.1/pages?top_k=2&after=index.md", "pages",
     "pages('harbour', '2.1', 2, 'index.md')"),
    ("libraries/harbour/versions/2.1/pages?name=TIDE", "pages",
     "pages('harbour', '2.1', name => 'tide')"),
    ("libraries/harbour/reading", "versions", "reading_state('harbour')"),
    ("libraries/harbour/reading?version=^1", "versions", "reading_state('harbour', '^1')"),
    ("libraries/harbour/health?version=2.1&checks=documents,pages", "findings",
     "check_library('harbour', version => '2.1', checks => '{{documents, pages}}')"),
    ("libraries/harbour/properties?examples=1", "properties",
     "properties('harbour', '2.1', example_count => 1)"),
    ("libraries/harbour/text?pattern=SILL&case=ignore&context=1&top_k=2&version=2", "lines",
     "search_text('SILL', 'harbour', 2, '2.1', case_mode => 'ignore', context => 1)"),
    ("libraries/harbour/text?pattern=^%23%23\\s\\w&mode=regex&path=nav*/**&timeout_ms=60000",
     "lines", "search_text('^##\\s\\w', 'harbour', version => '2.1', mode => 'regex',"
     " path => 'nav*/**')"),
    ("resolve?library=harbour", "", "resolve_version('harbour')"),
    ("resolve?library=harbour&version=^1", "", "resolve_version('harbour', '^1')"),
    ("pages?library=Harbour&page=Reading the Tide Table", "",
     "find_page('harbour', 'Reading the Tide Table')"),
    ("pages/{page_id}", "", "page({page_id})"),
    ("pages/{page_id}/outline", "outline", "outline({page_id})"),
    ("pages/{page_id}/versions", "versions", "page_versions({page_id})"),
    ("documents/{document_id}", "", "document({document_id})"),
    ("documents?library=harbour&chunk_key=navigation/tides.md%23c1", "",
     "find_document('harbour', 'navigation/tides.md#c1')"),
    ("documents/{document_id}/parent", "parent", "parent({document_id})"),
    ("documents/{document_id}/children", "children", "children({document_id})"),
    ("documents/{document_id}/siblings?before=1&after=0", "siblings",
     "siblings({document_id}, before => 1, after => 0)"),
    ("documents/{document_id}/ancestors", "ancestors", "ancestors({document_id})"),
    ("documents/{document_id}/history", "history", "section_history({document_id})"),
    ("documents/{document_id}/context", "parent", "parent({document_id})"),
    ("documents/{document_id}/context?before=0&after=2", "siblings",
     "siblings({document_id}, before => 0, after => 2)"),
    ("documents/{document_id}/context?max_chunks_per_document=3", "expansion",
     "expand_documents('{{{document_id}}}', '{{1}}', max_chunks_per_document => 3)"),
    ("suggestions?q=pontton&library=harbour&top_k=1", "suggestions",
     "suggest('pontton', 'harbour', suggestion_count => 1)"),
    ("parse?q=tide type:guide %23fees", "", "parse_query('tide type:guide #fees')"),
    ("intent?q=Wie mache ich das Boot fest", "", "detect_intent('Wie mache ich das Boot fest')"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "member", "call"), ROUTES)
def test_a_route_answers_what_its_function_answers(harbour, path, member, call):
    [hit, *_] = harbour.ok("/v1/search", q="half tide sill", library="harbour")["hits"]
    assert_answered(harbour, path, member, call, hit)
