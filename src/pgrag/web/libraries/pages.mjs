// The pages of a version: by name, and those that reading had to repair or lost words of.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useEffect, useState } from "../core/html.mjs";
import { Paged, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { pathOf } from "./names.mjs";
import { texts } from "./texts.mjs";

const ROWS = 50;
const PAUSE_MS = 200;

export function Pages({ params, library, label }) {
  const t = useTexts(texts);
  const { name = "", warned } = params;
  const load = async (after, signal) => {
    const given = { top_k: ROWS, after, name: name || null, warned: warned ? true : null };
    const { pages, next } = await get(`${pathOf(library, label)}/pages`, given, signal);
    return { rows: pages, next };
  };
  const set = (next) => go("libraries", { ...params, ...next }, { replace: true });
  return html`<div class="filters">
      <${NameField} name=${name} onChange=${(next) => set({ name: next })} />
      <label><input type="checkbox" checked=${Boolean(warned)}
        onChange=${(event) => set({ warned: event.target.checked ? 1 : null })} />
        ${" "}${t("onlyWarned")}</label></div>
    <${Paged} load=${load} inputs=${[library, label, name, warned]}>${(rows) => html`
      <${List} rows=${rows} nothing=${name ? t("noPageNamed", { name }) : t("noPage")} />`}<//>`;
}

/** A field whose text counts when the writer pauses, and never in the middle of a composition. */
export function NameField({ name, onChange }) {
  const t = useTexts(texts);
  const [text, setText] = useState(name);
  const [composing, setComposing] = useState(false);
  useEffect(() => {
    if (composing || text.trim() === name) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, composing]);
  return html`<label>${t("filterPages")} <input type="search" value=${text}
    onCompositionStart=${() => setComposing(true)} onCompositionEnd=${() => setComposing(false)}
    onInput=${(event) => setText(event.target.value)} /></label>`;
}

/** A warning says of which page it is, for those who read it elsewhere. */
const withoutKey = (warning, key) =>
  (warning.startsWith(`${key}: `) ? warning.slice(key.length + 2) : warning);

function List({ rows, nothing }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("page"), (row) => html`<${Link} view="search" params=${{ page: row.page_id }}>${row.title || row.key}<//>
      <small class="key">${row.key}</small>
      ${row.warnings.map((each) => html`<small class="warning">${withoutKey(each, row.key)}</small>`)}`],
    [t("type"), (row) => row.type],
    [t("passages"), (row) => format.number(row.documents), true],
    [t("wordsKept"), (row) => (row.words_shown === null ? "–"
      : t("wordsOf", { kept: row.words_kept, shown: row.words_shown })), true],
    [t("around"), (row) => html`<${Link} view="libraries" params=${{ graph: row.page_id }}
      aria-label=${t("graphOf", { title: row.title || row.key })}>${t("graph")}<//>`],
  ];
  return html`<${Table} caption=${t("pages")} columns=${columns} rows=${rows} nothing=${nothing}
    keyOf=${(row) => row.page_id} />`;
}
