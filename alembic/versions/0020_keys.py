"""Keys of callers, their secrets as hashes, what they use of their limits, and the audit.

Revision ID: 0020
Revises: 0019
"""

from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None

# No reference leads from the audit to a key: what happened outlives what it happened to. Row-level
# security without a policy keeps these tables from a role that may read all tables of the schema.
TABLES = """
create table pgrag.keys (
    key_id bigint generated always as identity primary key,
    name text not null unique,
    kind text not null check (kind in ('secret', 'publishable')),
    role text not null check (role in ('search', 'write', 'admin')),
    libraries text[] not null check (cardinality(libraries) > 0),
    origins text[] not null default '{}',
    rate double precision not null check (rate > 0 and rate <= 10000),
    burst integer not null check (burst between 1 and 1000000),
    concurrency integer not null check (concurrency between 1 and 10000),
    timeout_ms integer check (timeout_ms between 100 and 86400000),
    created_at timestamptz not null default now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    constraint keys_publishable_check
        check ((kind = 'publishable') = (cardinality(origins) > 0)
            and (kind = 'secret' or role = 'search')),
    constraint keys_admin_check check (role <> 'admin' or libraries = '{*}')
);
create table pgrag.key_secrets (
    hash bytea primary key check (octet_length(hash) = 32),
    key_id bigint not null references pgrag.keys on delete cascade,
    created_at timestamptz not null default now(),
    expires_at timestamptz
);
create index key_secrets_key_id on pgrag.key_secrets (key_id);

-- full_at: when all of the burst is there again. running: until when each running request counts.
create unlogged table pgrag.key_usage (
    key_id bigint primary key references pgrag.keys on delete cascade,
    full_at timestamptz not null,
    running timestamptz[] not null default '{}'
);

create table pgrag.audit (
    audit_id bigint generated always as identity primary key,
    at timestamptz not null default now(),
    caller text,
    role text,
    action text not null,
    library text,
    allowed boolean not null,
    reason text,
    address text,
    search_id uuid
);
create index audit_at on pgrag.audit (at);

alter table pgrag.keys enable row level security;
alter table pgrag.key_secrets enable row level security;
alter table pgrag.key_usage enable row level security;
alter table pgrag.audit enable row level security;

alter table pgrag.observation_settings
    add column audit_days integer default 365 check (audit_days between 1 and 36500);
"""


def upgrade() -> None:
    op.execute(TABLES)


def downgrade() -> None:
    op.execute(
        """
        alter table pgrag.observation_settings drop column audit_days;
        drop table pgrag.audit, pgrag.key_usage, pgrag.key_secrets, pgrag.keys;
        """
    )
