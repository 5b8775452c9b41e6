// The links of a version that lead nowhere, in the order in which an author mends them.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Copy } from "../core/parts.mjs";
import { Paged, Table } from "../core/tables.mjs";
import { useTexts } from "../core/texts.mjs";
import { pathOf, wish } from "./names.mjs";
import { texts } from "./texts.mjs";

const STATES = ["broken", "unresolved", "ambiguous", "fragment", "orphan", "external"];
const ROWS = 50;

export function Links({ params, library, label }) {
  const t = useTexts(texts);
  const state = STATES.includes(params.state) ? params.state : STATES[0];
  const load = async (after, signal) => {
    const given = { version: wish(label), state, top_k: ROWS, after };
    const { links, next } = await get(`${pathOf(library)}/links`, given, signal);
    return { rows: links, next };
  };
  const set = (event) => go("libraries", { ...params, state: event.target.value });
  return html`<div class="filters"><label>${t("which")} <select value=${state} onChange=${set}>
      ${STATES.map((each) => html`<option value=${each}>${t(`state_${each}`)}</option>`)}
    </select></label></div>
    <${Paged} load=${load} inputs=${[library, label, state]}>${(rows) => (state === "orphan"
      ? html`<${Orphans} rows=${rows} />` : html`<${List} rows=${rows} state=${state} />`)}<//>`;
}

const written = (row) => row.target + (row.fragment ? `#${row.fragment}` : "");

function List({ rows, state }) {
  const t = useTexts(texts);
  const columns = [
    [t("page"), (row) => html`<${Link} view="search" params=${{ page: row.source_page_id }}>
      ${row.source_page}<//>${row.line > 0 && html`<small>:${row.line}</small>`}`],
    [t("written"), (row) => html`<code>${written(row)}</code>
      ${row.link_text && row.link_text !== row.target
        && html`<small class="key">${row.link_text}</small>`}`],
    [t("why"), (row) => html`${t(row.fragment_found === false && row.target_page
      ? "state_fragment" : `state_${row.state}`)}
      ${row.candidates && html`<small class="key">${row.candidates.join(", ")}</small>`}
      ${row.target_page && html`<small class="key">${row.target_page}</small>`}`],
  ];
  const list = rows.map((row) => `- ${row.source_page}:${row.line ?? ""} ${written(row)}`)
    .join("\n");
  return html`<${Table} caption=${t("tab_links")} columns=${columns} rows=${rows}
      nothing=${t(state === "external" ? "noLink" : "noBroken")} keyOf=${(row) => row.edge_id} />
    ${rows.length > 0 && html`<p><${Copy} text=${list} label=${t("copyList")} /></p>`}`;
}

function Orphans({ rows }) {
  const t = useTexts(texts);
  const columns = [[t("page"), (row) => html`<${Link} view="search"
    params=${{ page: row.target_page_id }}>${row.target_page}<//>`]];
  return html`<${Table} caption=${t("state_orphan")} columns=${columns} rows=${rows}
    nothing=${t("noOrphan")} keyOf=${(row) => row.target_page_id} />`;
}
