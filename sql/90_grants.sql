-- The public API, as a list of grants: what is named below may be called by everybody who may
-- connect, and nothing else is promised to stay. A call works with the rights of its caller (every
-- function is security invoker), so it is the tables that say who reads and who writes:
--   reading   grant select on all tables in schema pgrag to reader;
--             alter default privileges in schema pgrag grant select on tables to reader;
--   indexing  takes the role that owns the schema, or a member of it (it merges the full-text
--             index, analyzes tables and builds vector indexes, which are the owner's alone).
grant usage on schema pgrag to public;

-- Dropping and making functions anew forgets who may call them, and some databases take "execute"
-- from public by default: so it is all said again here. Helpers run with their caller's rights
-- too, and whoever calls a function must be able to run what it calls.
do
$$
declare
    routine record;
begin
    for routine in
        select p.oid::regprocedure as signature, starts_with(p.proname, '_') as is_helper
        from pg_proc as p
        where p.pronamespace = 'pgrag'::regnamespace
            and not exists (
                select
                from pg_depend as d
                where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
            )
    loop
        execute format(
            case
                when routine.is_helper then 'grant execute on function %s to public'
                else 'revoke execute on function %s from public'
            end,
            routine.signature
        );
    end loop;
end;
$$;

grant execute on function
    -- searching
    pgrag.search,
    pgrag.keyword_search,
    pgrag.semantic_search,
    pgrag.explain_search,
    pgrag.search_pages,
    pgrag.search_text,
    pgrag.search_many,
    pgrag.diversify,
    pgrag.detect_intent,
    pgrag.strategy,
    pgrag.facets,
    pgrag.suggest,
    pgrag.context,
    pgrag.expand_documents,
    pgrag.answer_context,
    pgrag.answer_messages,
    pgrag.quoted_sources,
    pgrag.sentence_support,
    -- libraries, versions and pages
    pgrag.libraries,
    pgrag.library_versions,
    pgrag.resolve_version,
    pgrag.search_scope,
    pgrag.pages,
    pgrag.page,
    pgrag.find_page,
    pgrag.query_pages,
    pgrag.properties,
    pgrag.page_properties,
    pgrag.outline,
    pgrag.links,
    pgrag.link_states,
    pgrag.link_progress,
    -- documents
    pgrag.document,
    pgrag.parent,
    pgrag.ancestors,
    pgrag.children,
    pgrag.siblings,
    -- the graph
    pgrag.edges,
    pgrag.backlinks,
    pgrag.related_pages,
    pgrag.neighbourhood,
    pgrag.shortest_path,
    pgrag.search_edges,
    -- what was searched
    pgrag.recorded_search,
    pgrag.record_search,
    pgrag.record_answer,
    pgrag.search_history,
    pgrag.search_record,
    pgrag.export_searches,
    pgrag.forget_searches,
    pgrag.keep_searches,
    pgrag.search_retention,
    pgrag.search_metrics,
    pgrag.answer_metrics,
    pgrag.popular_queries,
    pgrag.empty_queries,
    pgrag.give_feedback,
    pgrag.judgements_from_feedback,
    -- models and vectors
    pgrag.builtin_model,
    pgrag.embed,
    pgrag.register_model,
    pgrag.use_model,
    pgrag.missing_query_models,
    pgrag.remember_query_vector,
    pgrag.pending_embeddings,
    pgrag.store_embeddings,
    pgrag.pending_pages,
    pgrag.page_texts,
    pgrag.store_page_embeddings,
    pgrag.embed_pending,
    pgrag.pending_edge_embeddings,
    pgrag.store_edge_embeddings,
    pgrag.embed_pending_edges,
    pgrag.vector_index_state,
    -- what language models write
    pgrag.pending_enrichments,
    pgrag.store_enrichments,
    pgrag.planned_enrichments,
    pgrag.enrichment_state,
    pgrag.enrichment_failures,
    pgrag.remove_enrichments,
    -- indexing
    pgrag.open_version,
    pgrag.ingest_page,
    pgrag.ingest_pages,
    pgrag.stored_pages,
    pgrag.finish_version,
    pgrag.resolve_links,
    pgrag.index_sources,
    pgrag.outdated_pages,
    pgrag.check_library,
    pgrag.repair_library,
    pgrag.remove_pages,
    pgrag.remove_version,
    pgrag.remove_library,
    pgrag.configure_library,
    pgrag.set_synonyms,
    pgrag.synonyms,
    pgrag.remove_synonyms,
    pgrag.page_type,
    pgrag.configuration,
    pgrag.configuration_history,
    pgrag.compare_configuration,
    pgrag.apply_configuration,
    pgrag.install_configuration,
    pgrag.default_settings,
    pgrag.effective_settings,
    pgrag.refresh_statistics,
    pgrag.refresh_anchor_texts,
    pgrag.refresh_page_ranks,
    -- evaluation
    pgrag.evaluation_sets,
    pgrag.evaluation_configurations,
    pgrag.evaluation_complaints,
    pgrag.evaluation_runs,
    pgrag.evaluation_metrics,
    pgrag.evaluation_scores,
    pgrag.import_evaluation_set,
    pgrag.run_evaluation,
    pgrag.compare_evaluations,
    pgrag.moved_queries,
    pgrag.evaluation_answer,
    pgrag.repeat_evaluation,
    pgrag.remove_evaluation_set,
    pgrag.remove_evaluation_run,
    pgrag.evaluation_target,
    pgrag.likely_language,
    pgrag.ranking_metric,
    pgrag.tune,
    pgrag.undo_tuning,
    pgrag.tuning_history,
    pgrag.precision_at,
    pgrag.recall_at,
    pgrag.hit_rate_at,
    pgrag.reciprocal_rank_at,
    pgrag.ndcg_at,
    -- the parts that they are made of
    pgrag.parse_query,
    pgrag.parse_search_text,
    pgrag.filter_predicate,
    pgrag.query_terms,
    pgrag.inverse_document_frequency,
    pgrag.impact,
    pgrag.term_frequencies,
    pgrag.lexeme_id,
    pgrag.search_vector,
    pgrag.searchable_text,
    pgrag.plain_text,
    pgrag.embedding_text,
    pgrag.edge_text,
    pgrag.text_hash,
    pgrag.relative_url,
    pgrag.text_search_configuration,
    pgrag.version_class,
    pgrag.release_key
to public;
