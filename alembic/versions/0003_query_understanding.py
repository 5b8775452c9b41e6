"""Query understanding: what intents and query types choose, the rules that find them, synonyms.

Revision ID: 0003
Revises: 0002
"""

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

# The phrases of a rule are kept as detect_intent compares them: lower case, umlauts folded, a space
# for whatever is neither letter nor digit, words bounded by spaces except where a * leaves them
# open. The expression is that of pgrag._folded; a column cannot need a function that is replaced.
TABLES = """
create table pgrag.query_types (
    name text primary key check (name ~ '^[a-z][a-z0-9_]{0,49}$'),
    description text not null default '',
    levels integer[] not null default '{1,2}'
        check (levels <@ '{0,1,2}' and cardinality(levels) > 0),
    alpha_offset double precision check (alpha_offset between -1 and 1),
    hierarchy text check (hierarchy in ('none', 'depth', 'breadth', 'overview'))
);

create table pgrag.intents (
    name text primary key check (name ~ '^[A-Z][A-Z0-9_]{0,49}$'),
    description text not null default '',
    unit text not null default 'document' check (unit in ('document', 'page')),
    aggregate text not null default 'max' check (aggregate in ('max', 'mean', 'rrf')),
    alpha double precision check (alpha between 0 and 1),
    hierarchy text check (hierarchy in ('none', 'depth', 'breadth', 'overview')),
    query_type text references pgrag.query_types (name) deferrable initially deferred
);

create table pgrag.intent_rules (
    name text primary key check (name ~ '^[a-z0-9][a-z0-9-]{0,79}$'),
    language text not null default 'any' check (language in ('any', 'de', 'en', 'ru')),
    kind text not null default 'words' check (kind in ('words', 'pattern', 'shape')),
    pattern text not null check (pattern ~ '[^[:space:]]'),
    intent text references pgrag.intents (name) deferrable initially deferred,
    query_type text references pgrag.query_types (name) deferrable initially deferred,
    confidence double precision not null default 0.8 check (confidence between 0 and 1),
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
        kind <> 'shape' or pattern in ('filters', 'quoted', 'identifier', 'path', 'name')
    )
);

create table pgrag.synonyms (
    library_id bigint not null references pgrag.libraries (library_id) on delete cascade,
    term text not null check (term ~ '[^[:space:]]'),
    expansions text[] not null check (cardinality(expansions) > 0),
    mutual boolean not null default false,
    weight double precision not null default 0.5 check (weight > 0 and weight <= 1),
    primary key (library_id, term)
);

create table pgrag.configuration_versions (
    version_id bigint generated always as identity primary key,
    origin text not null check (origin in ('package', 'user')),
    note text not null default '',
    configuration jsonb not null,
    created_at timestamptz not null default now()
);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        drop table pgrag.configuration_versions, pgrag.synonyms, pgrag.intent_rules,
            pgrag.intents, pgrag.query_types
        """
    )
