// Words of comparing.

export const texts = {
  en: {
    title: "Compare two settings or versions by one query", query: "Query", compare: "Compare",
    what:
      "One query, two lists: by other settings, in another version, or both. Lines lead to the " +
      "same hit on the other side; grades tell which list is better.",
    left: "Left", right: "Right", settings: "Settings", defaults: "defaults", default: "default",
    reset: "Defaults", without: "no {name}",
    wrong:
      "These settings of the address are not known, or have no such value: {what}. They are " +
      "left out.",
    version: "version", mode: "mode", alpha: "alpha", fusion: "fusion", graph: "links",
    rerank: "reranker", levels: "levels", page_decay: "page decay", page_evidence: "page evidence",
    query_expansion: "expansion", hierarchy: "hierarchy", mmr_lambda: "diversity", intent: "intent",
    versionHint: "The version that this side reads", modeHint: "Both retrievers, or one of them",
    alphaHint: "Share of the meaning in the score, 0 to 1", fusionHint: "How two scores become one",
    graphHint: "Links count", rerankHint: "A reranker scores the best hits again",
    levelsHint: "0 pages, 1 sections, 2 paragraphs",
    page_decayHint: "Each hit counts this factor for every better hit of its page",
    page_evidenceHint: "Share of the page in the score of words",
    query_expansionHint: "Terms that are added to the query",
    hierarchyHint: "Prefer one section, many, or introductions",
    mmr_lambdaHint: "Below 1, hits that differ move up",
    intentHint: "The kind of question sets what is left open",
    common: "top ten: {n} in common",
    figures:
      "Jaccard: the share of all hits that both lists have. RBO: rank-biased overlap, p = .9, " +
      "extrapolated; the first places weigh most.",
    nothing: "Nothing found.", gone: "gone", only: "only here",
    up: { one: "moved up by {n}", other: "moved up by {n}" },
    down: { one: "moved down by {n}", other: "moved down by {n}" },
    differs: "text differs", ndcg: "nDCG@10 {score}",
    judged: { one: "on {n} judgement", other: "on {n} judgements" },
    grade: "Grade", grade0: "not relevant", grade1: "helps", grade2: "answers",
    graded: "{title}: {n}", ungraded: "Grade removed.",
    grades: "Grades",
    gradesHint:
      "Grade the row that has the focus by 0, 1 or 2; the same again, or Delete, removes the " +
      "grade. ↑ ↓ go along a side, ← → to the other, Enter opens the page.",
    mayNot:
      "Grades are kept for everybody: they need a key of the role admin. Sign in with one to " +
      "grade and to evaluate.",
    readOnly:
      "Grades are kept for everybody: start the service with --allow-writes, or sign in with a " +
      "key of the role admin.",
    badSet: "{set} is no name of a set: letters a to z, numbers, dots, dashes and underscores.",
    set: "Set", setHint: "a name, such as questions", unit: "Grades are of",
    of_section: "sections", of_page: "pages", of_document: "passages",
    evaluate: "Evaluate both on the set",
    evaluateHint: "Runs every query of {set} by both settings.",
    chooseSet: "Choose or name a set first; the first grade makes one.",
    running: "Run {n} of 2 …", noReranker: "A whole evaluation has no reranker.",
    rightBetter: "The right side is better, by more than chance.",
    leftBetter: "The left side is better, by more than chance.",
    maybeChance: "The difference may be chance.",
    tooFew: {
      one: "One query says nothing about chance.",
      other: "{n} queries say nothing about chance.",
    },
    difference: "Difference", interval: "95 % interval", range: "{low} to {high}",
    outcomes: "better · worse · equal",
    measured: {
      one: "nDCG@10 of one query",
      other: "Mean nDCG@10 of {n} queries; paired randomisation test",
    },
    moved: "Queries that moved most",
  },
  de: {
    title: "Zwei Einstellungen oder Versionen mit einer Anfrage vergleichen", query: "Anfrage",
    compare: "Vergleichen",
    what:
      "Eine Anfrage, zwei Listen: mit anderen Einstellungen, in einer anderen Version oder " +
      "beides. Linien führen zum selben Treffer auf der anderen Seite; Noten sagen, welche " +
      "Liste besser ist.",
    left: "Links", right: "Rechts", settings: "Einstellungen", defaults: "Voreinstellungen",
    default: "voreingestellt", reset: "Voreinstellungen", without: "ohne {name}",
    wrong:
      "Diese Einstellungen der Adresse gibt es nicht, oder nicht mit diesem Wert: {what}. Sie " +
      "zählen nicht.",
    version: "Version", mode: "Verfahren", alpha: "Alpha", fusion: "Fusion", graph: "Verweise",
    rerank: "Reranker", levels: "Ebenen", page_decay: "Seitenabfall", page_evidence: "Seitenanteil",
    query_expansion: "Erweiterung",
    hierarchy: "Hierarchie",
    mmr_lambda: "Vielfalt",
    intent: "Absicht",
    versionHint: "Die Version, die diese Seite liest", modeHint: "Beide Verfahren oder eines",
    alphaHint: "Anteil der Bedeutung an der Punktzahl, 0 bis 1",
    fusionHint: "Wie aus zwei Punktzahlen eine wird", graphHint: "Verweise zählen",
    rerankHint: "Ein Reranker bewertet die besten Treffer noch einmal",
    levelsHint: "0 Seiten, 1 Abschnitte, 2 Absätze",
    page_decayHint: "Jeder Treffer zählt so viel für jeden besseren seiner Seite",
    page_evidenceHint: "Anteil der Seite an der Punktzahl der Wörter",
    query_expansionHint: "Begriffe, die zur Anfrage kommen",
    hierarchyHint: "Ein Abschnitt, viele oder Einleitungen zuerst",
    mmr_lambdaHint: "Unter 1 steigen Treffer, die anders sind",
    intentHint: "Die Art der Frage setzt, was offen ist",
    common: "die ersten zehn: {n} gemeinsam",
    figures:
      "Jaccard: der Anteil aller Treffer, die beide Listen haben. RBO: rank-biased overlap, p = " +
      "0,9, extrapoliert; die ersten Plätze wiegen am meisten.",
    nothing: "Nichts gefunden.", gone: "weg", only: "nur hier",
    up: { one: "{n} Platz höher", other: "{n} Plätze höher" },
    down: { one: "{n} Platz tiefer", other: "{n} Plätze tiefer" },
    differs: "Text anders", ndcg: "nDCG@10 {score}",
    judged: { one: "aus {n} Note", other: "aus {n} Noten" },
    grade: "Note", grade0: "nicht relevant", grade1: "hilft", grade2: "antwortet",
    graded: "{title}: {n}", ungraded: "Note entfernt.",
    grades: "Noten",
    gradesHint:
      "Die Zeile mit dem Fokus bekommt mit 0, 1 oder 2 ihre Note; dieselbe noch einmal, oder " +
      "Entf, nimmt sie weg. ↑ ↓ gehen eine Seite entlang, ← → zur anderen, Enter öffnet die " +
      "Seite.",
    mayNot:
      "Noten bleiben für alle: Sie brauchen einen Schlüssel der Rolle admin. Zum Benoten und " +
      "Auswerten damit anmelden.",
    readOnly:
      "Noten bleiben für alle: Den Dienst mit --allow-writes starten oder mit einem Schlüssel " +
      "der Rolle admin anmelden.",
    badSet: "{set} ist kein Name eines Satzes: Buchstaben a bis z, Ziffern, Punkte, Striche.",
    set: "Satz", setHint: "ein Name, etwa fragen", unit: "Noten gelten",
    of_section: "Abschnitten", of_page: "Seiten", of_document: "Textstellen",
    evaluate: "Beide mit dem Satz auswerten",
    evaluateHint: "Stellt jede Anfrage von {set} mit beiden Einstellungen.",
    chooseSet: "Erst einen Satz wählen oder benennen; die erste Note legt einen an.",
    running: "Lauf {n} von 2 …", noReranker: "Eine ganze Auswertung hat keinen Reranker.",
    rightBetter: "Die rechte Seite ist besser, mehr als durch Zufall.",
    leftBetter: "Die linke Seite ist besser, mehr als durch Zufall.",
    maybeChance: "Der Unterschied kann Zufall sein.",
    tooFew: {
      one: "Eine Anfrage sagt nichts über Zufall.",
      other: "{n} Anfragen sagen nichts über Zufall.",
    },
    difference: "Unterschied", interval: "95-%-Intervall", range: "{low} bis {high}",
    outcomes: "besser · schlechter · gleich",
    measured: {
      one: "nDCG@10 einer Anfrage",
      other: "Mittleres nDCG@10 von {n} Anfragen; gepaarter Randomisierungstest",
    },
    moved: "Anfragen, die sich am meisten bewegt haben",
  },
};
