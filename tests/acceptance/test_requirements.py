"""Every row of what pgrag must do, asked in SQL, over REST and on the command line.

`make requirements` prints the table.
"""

import json
import shlex
import shutil
from collections import defaultdict
from pathlib import Path
from string import Template

import llm_server
import psycopg
import pytest
from command_line import CommandLine
from requirements import ELSEWHERE, NAMES, ROWS
from service import served

#: Whoever has to choose reads what the house values and where it wants to go.
DECISIONS = """\
intents:
  DECISION:
    inject_types: [value, goal]
rules:
  decision-en:
    intent: DECISION
    confidence: 0.9
    pattern: should we choose.*
"""


class Faces:
    """The three ways to ask, and what each row's faces answered so far."""

    def __init__(self, pgrag, http, database):
        self._pgrag = pgrag
        self._http = http
        self._database = database
        self._ids = {
            name: str(database.execute(query).fetchall()[0][0]) for name, query in NAMES.items()
        }
        self.passed = defaultdict(list)

    def ask(self, face, question):
        """What this face answers, as text."""
        question = Template(question).safe_substitute(self._ids)
        if face == "CLI":
            return without_blanks(self._pgrag.run(*shlex.split(question)).out)
        if face == "REST":
            verb, path, *body = (
                question.split(" ", 2) if question[:4] == "POST" else (*question.split(" ", 1),)
            )
            response = self._http.request(verb, path, json=json.loads(body[0]) if body else None)
            assert response.status_code == 200, response.text
            return without_blanks(response.text)
        return "\n".join(printed(row) for row in self._database.execute(question).fetchall())


def printed(answer):
    """JSON as one text, the same whoever wrote it."""
    return json.dumps(answer, ensure_ascii=False, default=str, separators=(",", ":"))


def without_blanks(answer):
    """An answer in JSON without the blanks of its layout; others as they are."""
    try:
        return printed(json.loads(answer))
    except ValueError:
        return answer


@pytest.fixture(scope="module")
def faces(clone, tmp_path_factory, fixtures_folder):
    folder = tmp_path_factory.mktemp("requirements")
    (folder / "decisions.yaml").write_text(DECISIONS)
    sources = fixtures_folder / "requirements"
    personal = shutil.copytree(fixtures_folder / "wegweiser", folder / "personal")
    shutil.copy(fixtures_folder / "curriculum_vitae.md", personal)
    with clone() as url, llm_server.serving() as model:
        model.script = [llm_server.answer_from_context]
        pgrag = CommandLine(
            folder,
            {
                "PGRAG_DATABASE_URL": url,
                "PGRAG_LLM_URL": model.url,
                "PGRAG_LLM_MODEL": "small-chat",
            },
        )
        pgrag.run_all(
            ("index", "agorum", sources / "agorum", "--language", "de"),
            ("index", "vault", sources / "vault"),
            ("index", "people", sources / "people"),
            ("index", "banking", fixtures_folder / "banking_guide.md"),
            ("index", "personal", personal, "--language", "de"),
            ("index", "kestrel@1.4", fixtures_folder / "kestrel" / "1.4"),
            ("index", "kestrel@2.0", fixtures_folder / "kestrel" / "2.0"),
            ("config", "apply", folder / "decisions.yaml"),
        )
        with served(pgrag) as (http, _), psycopg.connect(url, autocommit=True) as database:
            faces = Faces(pgrag, http, database)
            yield faces
            print(table(faces))


def table(faces):
    """The rows with the faces that showed what they must."""
    lines = ["", f"{'':5}{'SQL':5}{'REST':5}{'CLI':5}"]
    for row in ROWS:
        passed = faces.passed[row.id, row.what]
        marks = (
            "yes" if face in passed else "NO" if face in row.faces() else "·"
            for face in ("SQL", "REST", "CLI")
        )
        lines.append(f"{row.id:5}" + "".join(f"{mark:5}" for mark in marks) + row.what)
    lines += [f"{id:5}{'see':15}{what}: {test}" for id, what, test in ELSEWHERE]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("row", "face"),
    [
        pytest.param(row, face, id=f"{row.id}-{row.what}-{face}")
        for row in ROWS
        for face in row.faces()
    ],
)
def test_row(faces, row, face):
    answer = faces.ask(face, row.faces()[face])
    assert [text for text in row.shows if text not in answer] == [], answer
    assert [text for text in row.hides if text in answer] == [], answer
    faces.passed[row.id, row.what].append(face)


@pytest.mark.parametrize("test", [test for *_, test in ELSEWHERE])
def test_what_is_tested_elsewhere_is(test):
    file, _, name = test.partition("::")
    assert f"def {name}(" in (Path(__file__).parents[1] / file).read_text()
