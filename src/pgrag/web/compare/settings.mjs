// The settings of a side: how the address holds them, and the form that changes them.

import { html, useEffect, useState } from "../core/html.mjs";
import { useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const SWITCH = ["true", "false"];
/** Arguments of a search by name: the values to choose from, or the bounds of a number. */
const FIELDS = {
  version: "version",
  mode: ["hybrid", "keyword", "semantic"],
  alpha: [0, 1],
  fusion: ["absolute", "rrf"],
  graph: SWITCH,
  rerank: SWITCH,
  levels: ["0", "1", "2", "0+1", "1+2", "0+1+2"],
  page_decay: [0, 1],
  page_evidence: [0, 1],
  query_expansion: ["none", "synonyms", "feedback", "both"],
  hierarchy: ["none", "depth", "breadth", "overview"],
  mmr_lambda: [0, 1],
  intent: ["auto", "off"],
};
const isNumber = (field) => typeof field[0] === "number";

function isGood(name, value) {
  const field = FIELDS[name];
  if (!field || value === "") return false;
  if (field === "version") return true;
  if (isNumber(field)) return Number(value) >= field[0] && Number(value) <= field[1];
  return field.includes(value);
}

/** Settings of an address, `alpha:0.6,graph:true`, as `{given: {name: text}, wrong: [text]}`. */
export function settingsOf(text = "") {
  const given = {};
  const wrong = [];
  for (const part of text.split(",").filter(Boolean)) {
    const [name, ...rest] = part.split(":");
    const value = decoded(rest.join(":"));
    if (isGood(name, value)) given[name] = value;
    else wrong.push(part);
  }
  return { given, wrong };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Settings as the address holds them: a version may have a comma. */
export const written = (given) =>
  Object.keys(FIELDS).filter((name) => given[name])
    .map((name) => `${name}:${given[name].replace(/[%,]/g, encodeURIComponent)}`).join(",");

/** Settings as arguments of a search. */
export function argumentsOf(given) {
  return Object.fromEntries(Object.entries(given).map(([name, text]) => {
    const field = FIELDS[name];
    if (name === "levels") return [name, text.split("+").map(Number)];
    if (field === SWITCH) return [name, text === "true"];
    return [name, isNumber(field) ? Number(text) : text];
  }));
}

/** What is different from the defaults, in a few words. */
export function labelOf(given, t) {
  const parts = Object.entries(given).map(([name, value]) => {
    if (FIELDS[name] !== SWITCH) return `${t(name)} ${value}`;
    return value === "true" ? t(name) : t("without", { name: t(name) });
  });
  return parts.join(", ") || t("defaults");
}

export function SettingsForm({ id, given, versions, onChange }) {
  const t = useTexts(texts);
  const change = (name) => (event) => {
    const { [name]: _, ...rest } = given;
    const { value } = event.target;
    // A number outside its bounds is not taken; the field says so.
    if (event.target.reportValidity()) onChange(value ? { ...rest, [name]: value } : rest);
  };
  const control = (name, field) => {
    const shared = { id: `${id}-${name}`, value: given[name] ?? "", onChange: change(name) };
    if (isNumber(field)) {
      return html`<${NumberField} ...${shared} min=${field[0]} max=${field[1]}
        placeholder=${t("default")} />`;
    }
    const values = field === "version" ? versions : field;
    return html`<select ...${shared} disabled=${values.length === 0 && !given[name]}>
      <option value="">${t("default")}</option>${options(values, given[name])}</select>`;
  };
  return html`<div class="settings" id=${id} role="group" aria-label=${t("settings")}>
    ${Object.entries(FIELDS).map(([name, field]) => html`<div key=${name} title=${t(`${name}Hint`)}>
      <label for=${`${id}-${name}`}>${t(name)}</label>${control(name, field)}</div>`)}
    <button type="button" class="button" onClick=${() => onChange({})}>${t("reset")}</button>
  </div>`;
}

/** A number that counts when it is whole: what is being written outlasts a new drawing. */
function NumberField({ value, ...others }) {
  const [draft, write] = useState(value);
  useEffect(() => write(value), [value]);
  return html`<input type="number" step="any" value=${draft} ...${others}
    onInput=${(event) => write(event.target.value)} />`;
}

/** Options; what the address names is among them even if nothing else has it. */
function options(values, chosen) {
  const all = !chosen || values.includes(chosen) ? values : [chosen, ...values];
  return all.map((value) => html`<option key=${value} value=${value}>${value}</option>`);
}
