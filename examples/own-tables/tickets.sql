-- A help desk: searched by words and by meaning, filtered and joined like any table.
\pset footer off
set client_min_messages = warning;
-- A schema of its own: no table of yours is touched.
drop schema if exists pgrag_example cascade;
create schema pgrag_example;
create table pgrag_example.tickets (
    id bigint generated always as identity primary key,
    subject text not null,
    body text not null,
    status text not null default 'open',
    opened timestamptz not null default now()
);
insert into pgrag_example.tickets (subject, body, status)
values
    ('Printer jams', 'Paper gets stuck when I print on both sides.', 'open'),
    ('Cannot sign in', 'Since the update my account is locked, and the password is refused.', 'open'),
    ('Sign-in by passkey', 'The passkey of my phone is not accepted on the laptop.', 'closed'),
    ('Invoice in another currency', 'Can you send the bill in euros instead of dollars?', 'open'),
    ('Backup failed', 'The nightly copy of the router stopped with error 28.', 'closed');

-- Once: which columns are searched, which ones filters see.
select pgrag.index_table(
    'pgrag_example.tickets', title => 'subject', text => 'body', metadata => 'status'
);
select * from pgrag.refresh_table('tickets');

\echo '# Open tickets about signing in, with columns of the table'
select t.id, t.status, t.subject, round(h.score::numeric, 2) as score
from pgrag.search(
    'I cannot log in', 'tickets', top_k => 2, filters => '{"front_matter.status": "open"}'
) as h
join pgrag_example.tickets as t on t.id = h.key::bigint
order by h.score desc;

\echo '# A new ticket, found after the next refresh'
insert into pgrag_example.tickets (subject, body)
values ('Two-factor codes', 'The six digits from the app always come too late.');
select * from pgrag.refresh_table('tickets');
select h.key as id, h.title from pgrag.search('authenticator app', 'tickets', top_k => 1) as h;
