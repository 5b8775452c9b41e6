// The words of the page, in English and German.

import { keep, kept } from "./kept.mjs";
import { store, useStore } from "./store.mjs";

export const LANGUAGES = { en: "English", de: "Deutsch" };

const language = store(preferred());

function preferred() {
  const chosen = kept("language");
  if (chosen in LANGUAGES) return chosen;
  const wanted = navigator.languages.map((each) => each.slice(0, 2));
  return wanted.find((each) => each in LANGUAGES) ?? "en";
}

export function setLanguage(next) {
  keep("language", next);
  document.documentElement.lang = next;
  language.set(next);
}

/**
 * A function that gives a text of `texts` (`{en: {name: text}, de: …}`) in the reader's language.
 * In a text, `{n}` stands for the value n, numbers as the language writes them; a text may also be
 * `{one: …, other: …}`, chosen by `n`.
 */
export function useTexts(texts) {
  const current = useStore(language);
  return (name, values = {}) => {
    let text = texts[current][name];
    if (typeof text === "object") {
      text = text[new Intl.PluralRules(current).select(values.n)] ?? text.other;
    }
    return text.replace(/\{(\w+)\}/g, (_, value) => shown(values[value], current));
  };
}

const shown = (value, current) =>
  typeof value === "number" ? value.toLocaleString(current) : String(value ?? "");

/** Numbers and times as the reader's language writes them. */
export function useFormats() {
  const current = useStore(language);
  return {
    language: current,
    number: (value, digits = 0) =>
      Number(value).toLocaleString(current, {
        maximumFractionDigits: digits, minimumFractionDigits: digits,
      }),
    percent: (share, digits = 0) =>
      Number(share).toLocaleString(current, { style: "percent", maximumFractionDigits: digits }),
    /** A score such as .72: without the zero that all of them have. */
    score: (value) => (value ?? 0).toFixed(2).replace(/^(-?)0\./, "$1."),
    // A day without an hour is that day everywhere.
    date: (value) => new Date(value).toLocaleString(current, {
      dateStyle: "medium", ...(/^\d+-\d\d-\d\d$/.test(value) && { timeZone: "UTC" }),
    }),
    moment: (value) =>
      new Date(value).toLocaleString(current, { dateStyle: "medium", timeStyle: "short" }),
    ago: (value) => ago(new Date(value) - Date.now(), current),
  };
}

// No seconds: what was said to be so long ago would soon be wrong.
const STEPS = [["day", 86400e3], ["hour", 3600e3], ["minute", 60e3]];

function ago(milliseconds, current) {
  const [unit, size] = STEPS.find(([, size]) => Math.abs(milliseconds) >= size) ?? STEPS.at(-1);
  const relative = new Intl.RelativeTimeFormat(current, { numeric: "auto" });
  return relative.format(Math.round(milliseconds / size), unit);
}

document.documentElement.lang = language.get();
