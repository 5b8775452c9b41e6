"""SQLAlchemy ORM classes of pgrag's tables, reflected from a database.

    base = orm.reflect(engine)
    Page = base.classes.Page
    with Session(engine) as session:
        for page in session.scalars(select(Page).where(Page.type == "guide")):
            print(page.version.label, [document.heading for document in page.documents])

The classes always match the database they are reflected from. A class has the singular of its
table's name: `EvaluationQuery` maps `evaluation_queries`. Columns keep their names, except for
Python keywords: `class` of `versions` is `class_`. `base.metadata` has the tables, for Alembic's
`target_metadata`, but not their storage options and statistics targets.

Relationships are read-only and follow the foreign keys: `document.page`, `page.documents` (in
reading order), `edge.source_page`, and `rule.intent_row`, because `rule.intent` is a name. Two
more, `Document.parent` and `Edge.target_page`, follow columns without a foreign key. To write
pages, call the SQL functions: they keep a library's ranking statistics in step with its rows.
"""

import keyword
import re
from typing import Any

import pgvector.sqlalchemy  # noqa: F401  (makes halfvec and sparsevec known to reflection)
from sqlalchemy import Engine, MetaData, Table, and_, event
from sqlalchemy.ext.automap import AutomapBase, automap_base, generate_relationship
from sqlalchemy.orm import RelationshipDirection, foreign, relationship, remote


def reflect(engine: Engine) -> type[AutomapBase]:
    """Return a base whose `classes` map the tables of the schema `pgrag` in this database."""
    base: type[AutomapBase] = automap_base(metadata=MetaData(schema="pgrag"))
    event.listen(base.metadata, "column_reflect", _name_column)
    base.prepare(
        engine,
        schema="pgrag",
        reflection_options={"only": lambda name, _: name != "alembic_version"},
        classname_for_table=_class_name,
        name_for_scalar_relationship=_scalar_name,
        name_for_collection_relationship=lambda *names, **_: names[2].__table__.name,
        generate_relationship=_read_only,
    )
    _relate(base.classes.Document, "parent", base.classes.Document, "document_id")
    _relate(base.classes.Edge, "target_page", base.classes.Page, "page_id")
    return base


def _name_column(_inspector: object, _table: Table, column: dict[str, Any]) -> None:
    column["key"] = column["name"] + "_" * keyword.iskeyword(column["name"])


def _class_name(base: type[Any], tablename: str, table: Table) -> str:
    name = tablename
    if not name.endswith(("statistics", "settings", "functions")):
        name = re.sub(r"(?<=ch)es$|s$", "", re.sub(r"ies$", "y", name))
    return name.title().replace("_", "")


def _scalar_name(*arguments: Any, **_: Any) -> str:
    column: str = arguments[-1].column_keys[-1]
    return column.removesuffix("_id") if column.endswith("_id") else f"{column}_row"


def _read_only(*arguments: Any, **options: Any) -> Any:
    _, direction, _, _, _, referred = arguments
    options = {k: v for k, v in options.items() if k not in {"cascade", "passive_deletes"}}
    if direction is RelationshipDirection.ONETOMANY:
        table = referred.__table__
        options["order_by"] = table.c.get("sort_order", table.primary_key.columns.values())
    return generate_relationship(*arguments, viewonly=True, **options)


def _relate(local: Any, name: str, target: Any, key: str) -> None:
    join = and_(
        foreign(local.library_id) == remote(target.library_id),
        foreign(getattr(local, f"{name}_id")) == remote(getattr(target, key)),
    )
    setattr(local, name, relationship(target, primaryjoin=join, viewonly=True, uselist=False))
