// Words of parts, tables and charts.

export const texts = {
  en: {
    loading: "Loading …", more: "Show more", otherKey: "Sign in with another key",
    needs_write: "This needs a key that may write.",
    needs_admin: "This needs the key of an administrator.",
    haveKey: "Sign in with one", makeKey: "Whoever runs the service makes one:",
    orWrites: "Or they start the service on this machine with", day: "Day",
    chartLoads: "The chart loads …",
  },
  de: {
    loading: "Lädt …", more: "Mehr zeigen", otherKey: "Mit einem anderen Schlüssel anmelden",
    needs_write: "Dazu braucht es einen Schlüssel, der schreiben darf.",
    needs_admin: "Dazu braucht es den Schlüssel eines Administrators.",
    haveKey: "Mit einem anmelden", makeKey: "Wer den Dienst betreibt, erstellt ihn:",
    orWrites: "Oder der Dienst wird auf diesem Rechner gestartet mit", day: "Tag",
    chartLoads: "Das Diagramm lädt …",
  },
};
