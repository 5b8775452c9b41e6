"""Understanding, configuration and evaluation: what a query asks for, and how well it is answered.

Configuration is rows. An evaluation run keeps its own copy of queries and judgements: a set may be
replaced, a library indexed anew, and the run still says what was asked, expected and returned.

Revision ID: 0004_understanding
Revises: 0003_graph
"""

from alembic import op

revision = "0004_understanding"
down_revision = "0003_graph"
branch_labels = None
depends_on = None

UPGRADE = """
create table pgrag.query_types (
    name text primary key check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
    description text not null default '',
    levels integer[] not null default '{1,2}'
        check (levels <@ '{0,1,2}' and cardinality(levels) > 0),
    alpha_offset double precision check (alpha_offset between -1 and 1),
    hierarchy text check (hierarchy in ('none', 'depth', 'breadth', 'overview')),
    arguments jsonb not null default '{}'
);
comment on table pgrag.query_types is 'Kinds of answers wanted, and what each sets for searches.';
comment on column pgrag.query_types.name is 'Such as factual; intents and rules refer to it.';
comment on column pgrag.query_types.description is 'For people.';
comment on column pgrag.query_types.levels is 'Levels searched: 0 page, 1 section, 2 paragraph.';
comment on column pgrag.query_types.alpha_offset is 'Added to the library alpha, -1 to 1; null: 0.';
comment on column pgrag.query_types.hierarchy is
    'Order of hits by headings: none, depth, breadth or overview; null: as the intent says.';
comment on column pgrag.query_types.arguments is
    'Other arguments of searches, contexts and answers where the caller leaves them open.';

create table pgrag.answer_templates (
    name text primary key check (name ~ '^[a-z][a-z0-9_-]{0,49}$'),
    description text not null default '',
    system text not null check (system ~ '[^[:space:]]'),
    prompt text not null check (prompt ~ '[^[:space:]]')
);
comment on table pgrag.answer_templates is 'Instructions for models that write answers, by intent.';
comment on column pgrag.answer_templates.name is 'Named by intents.template; default for the rest.';
comment on column pgrag.answer_templates.description is 'For people.';
comment on column pgrag.answer_templates.system is
    'System message: how to answer, cite and refuse. {default} inserts that of the row default.';
comment on column pgrag.answer_templates.prompt is
    'User message; {question} and {sources} are filled in. {default}: as in system.';

create table pgrag.intents (
    name text primary key check (name ~ '^[A-Z][A-Z0-9_]{0,49}$'),
    description text not null default '',
    unit text not null default 'document' check (unit in ('document', 'page')),
    aggregate text not null default 'max' check (aggregate in ('max', 'mean', 'rrf')),
    alpha double precision check (alpha between 0 and 1),
    hierarchy text check (hierarchy in ('none', 'depth', 'breadth', 'overview')),
    query_type text references pgrag.query_types (name) deferrable initially deferred,
    template text references pgrag.answer_templates (name) deferrable initially deferred,
    inject_types text[] not null default '{}',
    levels integer[] check (levels <@ '{0,1,2}' and cardinality(levels) > 0),
    arguments jsonb not null default '{}'
);
comment on table pgrag.intents is 'What a question is for; its settings for searches and answers.';
comment on column pgrag.intents.name is 'In capitals (KNOWN_ITEM); SEMANTIC if no rule decides.';
comment on column pgrag.intents.description is 'General question; models that name intents see it.';
comment on column pgrag.intents.unit is 'What a search lists: document (passages) or page.';
comment on column pgrag.intents.aggregate is 'Page score: max of hits, mean of the best 3, or rrf.';
comment on column pgrag.intents.alpha is 'Vector retriever weight, 0 to 1; null: the library''s.';
comment on column pgrag.intents.hierarchy is 'As query_types.hierarchy, which comes first.';
comment on column pgrag.intents.query_type is 'Its query type if no rule names one; null: factual.';
comment on column pgrag.intents.template is 'Row of answer_templates; null: the row default.';
comment on column pgrag.intents.inject_types is
    'Page types whose best passages a second search adds to contexts and answers.';
comment on column pgrag.intents.levels is 'Levels searched; null: those of the query type.';
comment on column pgrag.intents.arguments is
    'Other arguments of searches, contexts and answers; they come before the type''s.';

-- phrases: as _pgrag.folded does; a column cannot need a function that upgrades replace.
create table pgrag.intent_rules (
    name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,79}$'),
    language text not null default 'any' check (language in ('any', 'de', 'en', 'ru')),
    kind text not null default 'words' check (kind in ('words', 'pattern', 'shape')),
    pattern text not null check (pattern ~ '[^[:space:]]'),
    intent text references pgrag.intents (name) deferrable initially deferred,
    query_type text references pgrag.query_types (name) deferrable initially deferred,
    confidence double precision not null default 0.8 check (confidence between 0 and 1),
    pattern_hash bigint generated always as (hashtextextended(pattern, 0)) stored,
    required_parts text[],
    required_by bigint,
    phrases text[] generated always as (
        case
            when kind = 'words'
            then string_to_array(
                replace(replace(replace(replace(replace(replace(
                    ' ' || btrim(regexp_replace(regexp_replace(
                        translate(lower(normalize(pattern, nfkc)), 'äöüё', 'aouе'),
                        '[^[:alnum:]|*]+', ' ', 'g'
                    ), ' *[|] *', ' | ', 'g')) || ' ',
                    'ß', 'ss'), 'ae', 'a'), 'oe', 'o'), 'ue', 'u'), '* ', ''), ' *', ''
                ),
                '|'
            )
        end
    ) stored,
    constraint intent_rules_target_check check (intent is not null or query_type is not null),
    constraint intent_rules_shape_check check (
        kind <> 'shape' or pattern in (
            'filters', 'quoted', 'identifier', 'path', 'page', 'name'
        )
    )
);
comment on table pgrag.intent_rules is
    'The rules of detect_intent: the longest match decides, by intent and by type apart.';
comment on column pgrag.intent_rules.name is 'Name of the rule, returned by detect_intent.';
comment on column pgrag.intent_rules.language is
    'en and de need a Latin letter in the query, ru a Cyrillic one; any: always tried.';
comment on column pgrag.intent_rules.kind is
    'words: phrases; pattern: a regular expression, ignoring case; shape: a form of the query.';
comment on column pgrag.intent_rules.pattern is
    'Phrases separated by |, with * for the rest of a word; an expression; the name of a shape.';
comment on column pgrag.intent_rules.intent is 'Intent that a match decides; null: none.';
comment on column pgrag.intent_rules.query_type is 'Query type that a match decides; null: none.';
comment on column pgrag.intent_rules.confidence is '0 to 1; breaks ties of equally long matches.';
comment on column pgrag.intent_rules.required_parts is
    'A query without any of these texts is not compared with the pattern.';
comment on column pgrag.intent_rules.required_by is
    'Hash of the pattern that requires these parts; a row written without it is always compared.';
comment on column pgrag.intent_rules.pattern_hash is 'Of the pattern as it is now.';
comment on column pgrag.intent_rules.phrases is
    'Phrases of a words rule, folded like queries: lower case, no umlauts. Otherwise null.';

create table pgrag.synonyms (
    library_id bigint not null references pgrag.libraries (library_id) on delete cascade,
    term text not null check (term ~ '[^[:space:]]'),
    expansions text[] not null check (cardinality(expansions) > 0),
    mutual boolean not null default false,
    weight double precision not null default 0.5 check (weight > 0 and weight <= 1),
    primary key (library_id, term)
);
comment on table pgrag.synonyms is 'Other words that query_expansion adds to terms of a library.';
comment on column pgrag.synonyms.library_id is 'Library in which the term has this meaning.';
comment on column pgrag.synonyms.term is 'Word or phrase in a query.';
comment on column pgrag.synonyms.expansions is 'Words or phrases that are searched too.';
comment on column pgrag.synonyms.mutual is 'Whether expansions lead to the term and each other.';
comment on column pgrag.synonyms.weight is 'Relative to a word of the query: above 0, at most 1.';

create table pgrag.configuration_versions (
    version_id bigint generated always as identity primary key,
    origin text not null check (origin in ('package', 'user')),
    note text not null default '',
    configuration jsonb not null,
    created_at timestamptz not null default now()
);
comment on table pgrag.configuration_versions is 'States of the configuration, one per change.';
comment on column pgrag.configuration_versions.version_id is 'Number; the highest is the latest.';
comment on column pgrag.configuration_versions.origin is 'package: a release; user: a change.';
comment on column pgrag.configuration_versions.note is 'What the user said of the change.';
comment on column pgrag.configuration_versions.configuration is
    'The whole configuration; the latest of a package is compared with the next release''s.';
comment on column pgrag.configuration_versions.created_at is 'When the state was written.';

create table pgrag.evaluation_sets (
    set_id bigint generated always as identity primary key,
    name text not null check (name ~ '^[a-z0-9][a-z0-9._-]{0,79}$'),
    library text not null,
    unit text not null check (unit in ('page', 'section', 'document')),
    digest text not null,
    source jsonb not null default '{}',
    created_at timestamptz not null default now(),
    constraint evaluation_sets_name_key unique (name, library)
);
comment on table pgrag.evaluation_sets is
    'Labelled queries about one library. Runs keep a copy, so a set may be replaced.';
comment on column pgrag.evaluation_sets.set_id is 'The set in its queries and judgements.';
comment on column pgrag.evaluation_sets.name is 'Name for callers, unique within its library.';
comment on column pgrag.evaluation_sets.library is 'Name, not id: it may be removed and reindexed.';
comment on column pgrag.evaluation_sets.unit is 'What targets name: page, section or document.';
comment on column pgrag.evaluation_sets.digest is 'Runs of equal queries and judgements share it.';
comment on column pgrag.evaluation_sets.source is
    'Where it was imported from; tuning never learns from a set with held_out.';
comment on column pgrag.evaluation_sets.created_at is 'When it was last imported.';

create table pgrag.evaluation_queries (
    set_id bigint not null references pgrag.evaluation_sets (set_id) on delete cascade,
    query_id text collate "C" not null,
    query text not null,
    excluded text[] not null default '{}',
    primary key (set_id, query_id)
);
comment on table pgrag.evaluation_queries is 'A query of a set with at least one relevant target.';
comment on column pgrag.evaluation_queries.set_id is 'The set.';
comment on column pgrag.evaluation_queries.query_id is 'Id of the query in the imported set.';
comment on column pgrag.evaluation_queries.query is 'What is searched.';
comment on column pgrag.evaluation_queries.excluded is 'Keys of pages that do not count for it.';

create table pgrag.evaluation_judgements (
    set_id bigint not null,
    query_id text collate "C" not null,
    target text collate "C" not null,
    grade integer not null check (grade >= 0),
    primary key (set_id, query_id, target),
    foreign key (set_id, query_id)
        references pgrag.evaluation_queries (set_id, query_id) on delete cascade
);
comment on table pgrag.evaluation_judgements is 'Human grades of how well targets answer queries.';
comment on column pgrag.evaluation_judgements.set_id is 'The set.';
comment on column pgrag.evaluation_judgements.query_id is 'The query.';
comment on column pgrag.evaluation_judgements.target is
    'Name by evaluation_target: KEY, KEY#ANCHOR or KEY#cN. Keys outlive ids.';
comment on column pgrag.evaluation_judgements.grade is '0: not relevant; above: the gain in nDCG.';

create table pgrag.evaluation_runs (
    run_id bigint generated always as identity primary key,
    set_name text not null,
    set_digest text not null,
    unit text not null,
    name text not null,
    configuration jsonb not null,
    library text not null,
    version text not null,
    model text,
    settings jsonb not null,
    functions text,
    query_count integer not null,
    averages jsonb not null default '{}',
    started_at timestamptz not null,
    finished_at timestamptz
);
create index evaluation_runs_set on pgrag.evaluation_runs (set_name);
comment on table pgrag.evaluation_runs is
    'One run of a set with all that its figures depend on, so that it can be repeated.';
comment on column pgrag.evaluation_runs.run_id is 'Number of the run for callers.';
comment on column pgrag.evaluation_runs.set_name is 'Set by name; it may be replaced or removed.';
comment on column pgrag.evaluation_runs.set_digest is 'Its digest; only equal ones are comparable.';
comment on column pgrag.evaluation_runs.unit is 'What was judged: page, section or document.';
comment on column pgrag.evaluation_runs.name is 'Name of the configuration, such as hybrid.';
comment on column pgrag.evaluation_runs.configuration is
    'Function, arguments, depth, aggregate and pool, with all defaults filled in.';
comment on column pgrag.evaluation_runs.library is 'Library that was searched, by name.';
comment on column pgrag.evaluation_runs.version is 'Label of the version that was searched.';
comment on column pgrag.evaluation_runs.model is 'Name of the embedding model; null: none.';
comment on column pgrag.evaluation_runs.settings is 'Retrieval settings in force, with defaults.';
comment on column pgrag.evaluation_runs.functions is 'installed_functions.digest at that time.';
comment on column pgrag.evaluation_runs.query_count is 'Queries that were run.';
comment on column pgrag.evaluation_runs.averages is 'Mean by metric (ndcg@10); {} until finished.';
comment on column pgrag.evaluation_runs.started_at is 'When the run began.';
comment on column pgrag.evaluation_runs.finished_at is 'When it ended.';

create table pgrag.evaluation_run_queries (
    run_id bigint not null references pgrag.evaluation_runs (run_id) on delete cascade,
    query_id text collate "C" not null,
    query text not null,
    excluded text[] not null,
    judgements jsonb not null,
    primary key (run_id, query_id)
);
comment on table pgrag.evaluation_run_queries is 'A query as a run asked it: its own copy.';
comment on column pgrag.evaluation_run_queries.run_id is 'The run.';
comment on column pgrag.evaluation_run_queries.query_id is 'Id of the query in the set.';
comment on column pgrag.evaluation_run_queries.query is 'What was searched.';
comment on column pgrag.evaluation_run_queries.excluded is 'Keys of pages that did not count.';
comment on column pgrag.evaluation_run_queries.judgements is 'Grades by target.';

create table pgrag.evaluation_results (
    run_id bigint not null,
    query_id text collate "C" not null,
    rank integer not null,
    target text collate "C" not null,
    document_id bigint,
    score double precision,
    primary key (run_id, query_id, rank),
    foreign key (run_id, query_id)
        references pgrag.evaluation_run_queries (run_id, query_id) on delete cascade
);
comment on table pgrag.evaluation_results is 'What a run returned for a query, for its metrics.';
comment on column pgrag.evaluation_results.run_id is 'The run.';
comment on column pgrag.evaluation_results.query_id is 'The query.';
comment on column pgrag.evaluation_results.rank is 'Position in the list of targets, from 1.';
comment on column pgrag.evaluation_results.target is 'Name by evaluation_target, as in judgements.';
comment on column pgrag.evaluation_results.document_id is 'Its best passage then; it may be gone.';
comment on column pgrag.evaluation_results.score is 'Its scale depends on function and aggregate.';

create table pgrag.tuning_runs (
    tuning_id bigint generated always as identity primary key,
    library_id bigint not null,
    library text not null,
    version text not null,
    source text not null check (source in ('judgements', 'feedback', 'library')),
    seed bigint not null,
    questions jsonb not null default '{}',
    settings_before jsonb not null,
    settings_after jsonb not null,
    proposed jsonb not null default '{}',
    training jsonb,
    validation jsonb,
    searched jsonb,
    trials jsonb not null default '[]',
    notes text[] not null default '{}',
    outcome text not null check (
        outcome in (
            'accepted', 'dry run', 'not better', 'too little', 'overtaken', 'taken back'
        )
    ),
    reason text not null,
    started_at timestamptz not null,
    finished_at timestamptz not null,
    undone_at timestamptz,
    verdicts jsonb not null default '[]'
);
create index tuning_runs_library on pgrag.tuning_runs (library_id);
comment on table pgrag.tuning_runs is 'What tune tried and decided, and what undo_tuning restores.';
comment on column pgrag.tuning_runs.tuning_id is 'Number of the tuning, in order of time.';
comment on column pgrag.tuning_runs.library_id is 'Its library; no foreign key, as it may be gone.';
comment on column pgrag.tuning_runs.library is 'Its name at that time.';
comment on column pgrag.tuning_runs.version is 'Version (label) whose pages and searches decided.';
comment on column pgrag.tuning_runs.source is 'Origin of questions: judgements, feedback or text.';
comment on column pgrag.tuning_runs.seed is 'Draws and splits questions; the same seed repeats it.';
comment on column pgrag.tuning_runs.questions is 'Number of questions by kind.';
comment on column pgrag.tuning_runs.settings_before is 'Without defaults; undo_tuning restores it.';
comment on column pgrag.tuning_runs.settings_after is 'As settings_before, unless it was accepted.';
comment on column pgrag.tuning_runs.proposed is 'The settings that are better; {}: none.';
comment on column pgrag.tuning_runs.training is
    'Proposed settings against those before, by nDCG@10 of pages, on the training questions.';
comment on column pgrag.tuning_runs.validation is 'Like training, on the questions that decided.';
comment on column pgrag.tuning_runs.searched is
    'nDCG@10 by real searches: before, after, and what was foreseen; null: not tried.';
comment on column pgrag.tuning_runs.trials is 'Every value that was tried, with round and gain.';
comment on column pgrag.tuning_runs.notes is 'What was left out of the tuning, and why.';
comment on column pgrag.tuning_runs.outcome is
    'accepted, dry run, not better, too little, overtaken (settings changed) or taken back.';
comment on column pgrag.tuning_runs.reason is 'The outcome as a sentence.';
comment on column pgrag.tuning_runs.started_at is 'When the tuning began.';
comment on column pgrag.tuning_runs.finished_at is 'When it ended.';
comment on column pgrag.tuning_runs.undone_at is 'When undone; null: in force, or never stored.';
comment on column pgrag.tuning_runs.verdicts is 'By setting: value, comparisons, verdict, reason.';
"""

DOWNGRADE = """
drop table pgrag.tuning_runs, pgrag.evaluation_results, pgrag.evaluation_run_queries,
    pgrag.evaluation_runs, pgrag.evaluation_judgements, pgrag.evaluation_queries,
    pgrag.evaluation_sets, pgrag.configuration_versions, pgrag.synonyms, pgrag.intent_rules,
    pgrag.intents, pgrag.answer_templates, pgrag.query_types;
"""


def upgrade() -> None:
    op.execute(UPGRADE)


def downgrade() -> None:
    op.execute(DOWNGRADE)
