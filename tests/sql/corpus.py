"""Seeded, invented manuals whose words are distributed like those of real ones."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from library import document, page

ENGLISH = """
the of and to a in is that for on with as are be this by or from an it at not can which when if
use set file server table index query node page value option function default cluster name type
configuration install upgrade restart backup restore replica connection password certificate user
role grant schema migration search filter vector keyword ranking score library version document
section heading path link container volume network port host address timeout retry queue worker
job schedule event log metric alert dashboard memory disk cache buffer thread process signal lock
transaction commit rollback snapshot checkpoint partition shard balance route gateway proxy token
session cookie header request response error warning exception trace debug profile benchmark test
build release deploy pipeline branch merge review policy rule permission audit encryption key
secret vault rotate expire renew kernel driver module package dependency compiler linker runtime
useEffect max_connections shared_buffers createIndex error.code --dry-run HTTPServer camelCase
"""
GERMAN = """
der die das und in zu den mit von auf ist für nicht ein eine als auch an werden aus er hat dass
Datei Dateien Server Tabelle Index Abfrage Knoten Seite Seiten Wert Werte Funktion Vorgabe Name
Einstellung Einstellungen Sicherung Häuser Größe Benutzer Rolle Rechte Suche Ergebnis Bewertung
Bibliothek Fassung Dokument Abschnitt Überschrift Pfad Verweis Behälter Netz Anschluss Adresse
Wartezeit Warteschlange Auftrag Ereignis Protokoll Speicher Platte Puffer Vorgang Sperre Anmeldung
Schlüssel Geheimnis Ablauf Kern Treiber Paket Abhängigkeit Übersetzer Laufzeit Fehler Warnung
"""
RUSSIAN = """
и в не на с что как это по из для при или если файл файлы сервер таблица таблицы индекс запрос
узел страница страницы значение функция имя настройка настройки копия пользователь роль права
поиск результат оценка библиотека версия документ раздел заголовок путь ссылка сеть порт адрес
ожидание очередь задача событие журнал память диск буфер поток процесс блокировка ключ секрет
"""
VOCABULARY = {"english": ENGLISH.split(), "german": GERMAN.split(), "russian": RUSSIAN.split()}


@dataclass(frozen=True)
class Author:
    """Writes pages in one language; the same seed gives the same pages."""

    random: random.Random
    language: str = "english"

    def sentence(self, length: int) -> str:
        """Words by Zipf's law: a few in most passages, most in a few."""
        vocabulary = VOCABULARY[self.language]
        weights = [1 / rank for rank in range(1, len(vocabulary) + 1)]
        return " ".join(self.random.choices(vocabulary, weights, k=length)).capitalize() + "."

    def heading(self) -> str:
        return " ".join(self.random.choices(VOCABULARY[self.language][20:], k=2)).title()

    def paragraph(self) -> str:
        return " ".join(
            self.sentence(self.random.randint(4, 14)) for _ in range(self.random.randint(1, 6))
        )

    def query(self) -> str:
        return " ".join(self.random.choices(VOCABULARY[self.language], k=self.random.randint(1, 6)))

    def page(self, key: str, **fields: Any) -> dict[str, Any]:
        """A page with its summary, one to three sections and their paragraphs."""
        title = self.heading()
        path = [self.heading(), title]
        documents = [
            document(
                self.sentence(10), level=0, covers=self.random.choice([0, 1]), path=path,
                heading=title, is_summary=True, position="intro",
            )
        ]  # fmt: skip
        for _ in range(self.random.randint(1, 3)):
            heading = self.heading()
            section = len(documents)
            own = {"path": [*path, heading], "heading": heading, "depth": 1, "heading_level": 2}
            own["root_section"] = heading
            paragraphs = self.random.randint(1, 4)
            documents.append(
                document(
                    self.sentence(8), level=1, covers=0 if paragraphs == 1 else 2, parent=0,
                    is_summary=True, **own,
                )
            )  # fmt: skip
            documents.extend(
                document(
                    self.paragraph(), level=2, covers=6 if paragraphs == 1 else 4,
                    parent=section, types=self.random.choice([["text"], ["text", "code"]]), **own,
                )
                for _ in range(paragraphs)
            )  # fmt: skip
        return page(
            key,
            *documents,
            title=title,
            path=path,
            url=f"https://example.org/{self.language}/{key.removesuffix('.md')}",
            **{"language": self.language, **fields},
        )


def pages(
    author: Author, count: int, prefix: str = "", languages: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """`count` pages; with `languages` each is in one of them, as its front matter says."""
    return [
        Author(author.random, author.random.choice(languages or [author.language])).page(
            f"{prefix}{number:04}.md",
            type=author.random.choice(["guide", "reference", None]),
            tags=author.random.sample(["alpha", "beta", "gamma"], k=author.random.randint(0, 2)),
            created=f"2024-{author.random.randint(1, 12):02}-{author.random.randint(1, 28):02}",
        )
        for number in range(count)
    ]
