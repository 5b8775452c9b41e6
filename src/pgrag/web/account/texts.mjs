// The words of signing in.

export const texts = {
  en: {
    signIn: "Sign in", key: "Key", signOut: "Sign out", go: "To the search", back: "Back to where you were",
    why: "This service wants a key.",
    open: "This service answers without a key. With one you may do what the key allows.",
    kept: "The key stays in this page and is stored nowhere: it is gone when the page is left or loaded anew.",
    howTo: "Whoever runs the service makes keys by:", signedIn: "Signed in as {name}",
    role: "Role", libraries: "Libraries", allLibraries: "all", until: "Valid until", forEver: "without end",
    mayHead: "May", mayNotHead: "May not", empty: "Paste a key.",
    whoEver: "Without a key",
    search: "search", read: "read pages and their links", answer: "ask for answers",
    rate: "rate what was found", index: "add pages, sources and files",
    observe: "see what was searched, and gaps", evaluate: "grade results and run evaluations",
    configure: "change the configuration", administer: "read the audit",
  },
  de: {
    signIn: "Anmelden", key: "Schlüssel", signOut: "Abmelden", go: "Zur Suche", back: "Zurück",
    why: "Dieser Dienst will einen Schlüssel.",
    open: "Dieser Dienst antwortet auch ohne Schlüssel. Mit einem dürfen Sie, was er erlaubt.",
    kept: "Der Schlüssel bleibt in dieser Seite und wird nirgends gespeichert: er ist weg, wenn die Seite verlassen oder neu geladen wird.",
    howTo: "Wer den Dienst betreibt, macht Schlüssel durch:", signedIn: "Angemeldet als {name}",
    role: "Rolle", libraries: "Bibliotheken", allLibraries: "alle", until: "Gültig bis", forEver: "ohne Ende",
    mayHead: "Darf", mayNotHead: "Darf nicht", empty: "Bitte einen Schlüssel einfügen.",
    whoEver: "Ohne Schlüssel",
    search: "suchen", read: "Seiten und ihre Links lesen", answer: "Antworten verlangen",
    rate: "Gefundenes bewerten", index: "Seiten, Quellen und Dateien hinzufügen",
    observe: "sehen, was gesucht wurde und was fehlt", evaluate: "Treffer benoten und Auswertungen machen",
    configure: "die Konfiguration ändern", administer: "das Protokoll lesen",
  },
};
