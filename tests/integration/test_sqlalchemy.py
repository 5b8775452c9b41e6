"""Searches inside queries of SQLAlchemy, joined with tables of one's own."""

import asyncio

import psycopg
import pytest
from sqlalchemy import BigInteger, Text, cast, create_engine, func, select, true
from sqlalchemy.dialects import postgresql
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from pgrag.sqlalchemy import ARGUMENTS, HIT, Library, Page, Passage, Version, search


class Base(DeclarativeBase):
    pass


class Ticket(Base):
    __tablename__ = "tickets"
    # The user of the tests is called pgrag, so that new tables would be in that schema.
    __table_args__ = {"schema": "public"}  # noqa: RUF012 - as SQLAlchemy declares it
    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    subject: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)


@pytest.fixture(scope="module")
def url(clone):
    with clone() as url:
        address = url.replace("postgresql://", "postgresql+psycopg://")
        engine = create_engine(address)
        Base.metadata.create_all(engine)
        with Session(engine) as session, session.begin():
            session.add_all([
                Ticket(id=1, subject="Printer", body="Paper jams.", status="open"),
                Ticket(id=2, subject="Account", body="The account is locked.", status="open"),
                Ticket(id=3, subject="Scanner", body="Paper jams there, too.", status="closed"),
            ])  # fmt: skip
            session.execute(select(func.pgrag.index_table("public.tickets", "body", "subject")))
            session.execute(select(func.pgrag.refresh_table("tickets")))
        engine.dispose()
        yield address


@pytest.fixture
def session(url):
    engine = create_engine(url)
    with Session(engine) as session:
        yield session
    engine.dispose()


def jams(**arguments):
    hits = search("paper jams", "tickets", **arguments)
    return (
        select(Ticket, hits.c.score)
        .join(hits, Ticket.id == cast(hits.c.key, BigInteger))
        .order_by(hits.c.score.desc())
    )


def test_a_search_is_joined_with_a_model_of_ones_own(session):
    rows = session.execute(jams(top_k=2)).all()
    assert [ticket.subject for ticket, _ in rows] == ["Printer", "Scanner"]
    assert all(isinstance(score, float) for _, score in rows)
    [(ticket, _)] = session.execute(jams(top_k=2).where(Ticket.status == "closed")).all()
    assert ticket.id == 3
    # A filter in the search keeps the number of hits; values are never part of the text.
    hits = search("'; drop table tickets; --", "tickets", filters={"key": "2"}, explain=True)
    [(key, explanation)] = session.execute(select(hits.c.key, hits.c.explanation)).all()
    assert (key, explanation["score"] > 0) == ("2", True)


def test_columns_of_another_table_are_arguments_and_two_searches_have_two_names(session):
    own = postgresql.array([cast(Ticket.id, Text) + "#c0"])
    near = search(Ticket.body, "tickets", top_k=1, exclude=own, name="near")
    statement = select(Ticket.id, near.c.key).select_from(Ticket).join(near, true())
    found = session.execute(statement).all()
    assert {(1, "3"), (3, "1")} <= {tuple(row) for row in found}


def test_pages_passages_and_versions_are_mapped_for_reading(session):
    hits = search("locked account", "tickets", top_k=1)
    page = session.scalars(select(Page).join(hits, hits.c.page_id == Page.page_id)).one()
    assert (page.key, page.title, page.version.library.name) == ("2", "Account", "tickets")
    assert [passage.content for passage in page.passages] == ["The account is locked."]
    assert session.scalars(select(Passage).where(Passage.page == page)).one().page is page
    assert session.scalars(select(Version.label)).all() == [""]
    assert session.scalars(select(Library.name)).all() == ["tickets"]
    page.title = "Changed"
    with pytest.raises(TypeError, match="Page is read-only"):
        session.flush()


def test_an_asynchronous_engine_searches_the_same(url):
    async def subjects():
        engine = create_async_engine(url)
        async with AsyncSession(engine) as session:
            rows = (await session.execute(jams(top_k=2))).all()
        await engine.dispose()
        return [ticket.subject for ticket, _ in rows]

    assert asyncio.run(subjects()) == ["Printer", "Scanner"]


def test_a_misspelt_argument_is_named():
    with pytest.raises(TypeError, match=r"no argument 'topk'\. Did you mean top_k"):
        search("x", topk=3)


def test_arguments_columns_and_classes_are_those_of_the_database(url):
    statement = """
        select a.name, format_type(a.type, null)
        from pg_proc as p
        cross join unnest(p.proargnames, p.proargtypes::oid[]) as a (name, type)
        where p.oid = 'pgrag.search'::regproc and a.type is not null
    """
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        arguments = dict(connection.execute(statement).fetchall())
        columns = {
            table: dict(
                connection.execute(
                    "select a.attname, format_type(a.atttypid, null) from pg_attribute as a"
                    " where a.attrelid = %s::regclass and a.attnum > 0 and not a.attisdropped",
                    [f"pgrag.{table}"],
                ).fetchall()
            )
            for table in ("hit", "libraries", "versions", "pages", "documents")
        }
    assert {name: _shown(kind) for name, kind in ARGUMENTS.items()} == arguments
    assert {name: _shown(kind) for name, kind in HIT.items()} == columns["hit"]
    for mapped in (Library, Version, Page, Passage):
        table = mapped.__table__
        for column in table.columns:
            assert _shown(column.type) == columns[table.name][column.name], column


def _shown(kind):
    """A type as PostgreSQL writes it."""
    return kind.compile(dialect=postgresql.dialect()).lower()
