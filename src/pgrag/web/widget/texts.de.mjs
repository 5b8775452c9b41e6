// The words of the search box in German.

export const texts = {
  language: "de",
  title: "Dokumentation durchsuchen",
  placeholder: "Suchen",
  close: "Schließen",
  move: "bewegen",
  open: "öffnen",
  version: "Version",
  unversioned: "ohne Version",
  keys: "Pfeile bewegen, Eingabe öffnet, Escape schließt. Umschalt und Tab führen zu Knöpfen.",
  versionKeys: "Tab wechselt die Version.",
  recent: "Zuvor gesucht",
  found: (hits, pages) =>
    `${hits} ${hits === 1 ? "Stelle" : "Stellen"} auf ${pages} ${pages === 1 ? "Seite" : "Seiten"}`,
  weak: "Kein guter Treffer. Diese Seiten kommen am nächsten:",
  nothing: (words) => `Nichts gefunden zu „${words}“.`,
  didYouMean: "Meinten Sie:",
  missing: "Den Autoren sagen, dass das fehlt",
  told: "Danke. Die Autoren sehen es.",
  notKept: "Das kam nicht an.",
  helpful: "Hilfreich?",
  yes: "Ja",
  no: "Nein",
  ask: (words) => `Fragen: ${words}`,
  asking: "Die Dokumentation wird gelesen …",
  sources: "Quellen",
  back: "Zurück zu den Treffern",
  doubtful: "Von der Quelle nicht gedeckt",
  again: "Noch einmal",
  noAddress: "Diese Seite hat keine Adresse im Netz.",
  unreachable: "Die Suche ist nicht erreichbar. Sind Sie offline?",
  // By the kind of the problem.
  "too-many-requests": (seconds) => `Gerade suchen viele. Neuer Versuch in ${seconds} s.`,
  down: "Die Suche ist im Moment nicht verfügbar.",
  "invalid-key": "Der Schlüssel dieses Suchfelds gilt nicht (mehr). Sagen Sie es dem"
    + " Betreiber der Seite.",
  forbidden: "Dieses Suchfeld darf auf dieser Seite nicht benutzt werden. Sagen Sie es dem"
    + " Betreiber der Seite.",
  secret: "Dieses Suchfeld hat einen geheimen Schlüssel. Der Betreiber der Seite"
    + " muss ihn widerrufen.",
  "key-required": "Dieses Suchfeld braucht einen Schlüssel. Sagen Sie es dem Betreiber der Seite.",
  "unknown-library": "Die Dokumentation dieser Seite ist nicht indexiert. Sagen Sie es dem"
    + " Betreiber der Seite.",
  "unknown-version": "Diese Version ist nicht indexiert.",
  newest: "In der neuesten Version suchen",
  limit: "In dieser Stunde sind keine Antworten mehr möglich. Die Suche geht weiter.",
  noAnswer: "Die Antwort konnte nicht geschrieben werden. Die Suche geht weiter.",
};
