// The pages of a version: by name, and those that reading had to repair or lost words of.

import { get, remove, service } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useEffect, useState } from "../core/html.mjs";
import { Dialog, announce } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { Paged, Refused, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { pathOf } from "./names.mjs";
import { texts } from "./texts.mjs";

const ROWS = 50;
const PAUSE_MS = 200;

export function Pages({ params, library, label }) {
  const t = useTexts(texts);
  const { name = "", warned } = params;
  const [removed, setRemoved] = useState(0);
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
    <${Paged} load=${load} inputs=${[library, label, name, warned, removed]}>${(rows) => html`
      <${List} rows=${rows} path=${pathOf(library, label)} onRemove=${() => setRemoved(removed + 1)}
        nothing=${name ? t("noPageNamed", { name }) : t("noPage")} />`}<//>`;
}

/** A field whose text counts when the writer pauses, and never in the middle of a composition. */
function NameField({ name, onChange }) {
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

/** A page by its title and key, as a link to the reader. */
export function PageName({ page: { page_id, title, key } }) {
  return html`<${Link} view="search" params=${{ page: page_id }}>${title || key}<//>
    <small class="key">${key}</small>`;
}

/** A warning says of which page it is, for those who read it elsewhere. */
const withoutKey = (warning, key) =>
  (warning.startsWith(`${key}: `) ? warning.slice(key.length + 2) : warning);

function List({ rows, path, nothing, onRemove }) {
  const t = useTexts(texts);
  const format = useFormats();
  const known = useStore(service);
  const columns = [
    [t("page"), (row) => html`<${PageName} page=${row} />
      ${row.warnings.map((each) => html`
        <small class="warning">${withoutKey(each, row.key)}</small>`)}`],
    [t("type"), (row) => row.type],
    [t("passages"), (row) => format.number(row.documents), true],
    [t("wordsKept"), (row) => (row.words_shown === null ? "–"
      : t("wordsOf", { kept: row.words_kept, shown: row.words_shown })), true],
    [t("around"), (row) => html`<${Link} view="libraries" params=${{ graph: row.page_id }}
      aria-label=${t("graphOf", { title: row.title || row.key })}>${t("graph")}<//>`],
  ];
  if (known?.may.index) {
    columns.push([t("remove"), (row) => html`<${Remove} page=${row} path=${path}
      onRemove=${onRemove} />`]);
  }
  return html`<${Table} caption=${t("pages")} columns=${columns} rows=${rows} nothing=${nothing}
    keyOf=${(row) => row.page_id} />`;
}

/** Takes a page out of its version, once that is confirmed. */
function Remove({ page, path, onRemove }) {
  const t = useTexts(texts);
  const [asks, setAsks] = useState(false);
  const [problem, setProblem] = useState(null);
  const act = () => remove(`${path}/pages/${encodeURIComponent(page.key)}`).then(() => {
    setAsks(false);
    announce(t("isRemoved", { key: page.key }));
    onRemove();
  }, setProblem);
  return html`<button type="button" class="plain" aria-label=${t("removePage", { key: page.key })}
      onClick=${() => setAsks(true)}>${t("remove")}</button>
    ${asks && html`<${Dialog} label=${t("removePage", { key: page.key })}
        onClose=${() => setAsks(false)}>
      <h2>${t("removePage", { key: page.key })}</h2><p>${t("removeAbout")}</p>
      ${problem && html`<${Refused} problem=${problem} />`}
      <div class="tasks"><button class="button main" onClick=${act}>${t("remove")}</button>
        <button class="button" onClick=${() => setAsks(false)}>${t("cancel")}</button></div><//>`}`;
}
