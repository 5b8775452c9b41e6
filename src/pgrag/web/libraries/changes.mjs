// Two versions of a library compared: pages and sections, and the diff of a page that is opened.

import { get } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useState } from "../core/html.mjs";
import { Part } from "../core/tables.mjs";
import { useTexts } from "../core/texts.mjs";
import { pathOf, shownLabel, wish } from "./names.mjs";
import { texts } from "./texts.mjs";

const KINDS = ["changed", "added", "removed", "moved"];
const ROWS = 50;

export function Changes({ params, library, label, versions }) {
  const t = useTexts(texts);
  if (versions.length < 2) return html`<p class="soft">${t("oneVersion")}</p>`;
  const at = versions.findIndex((each) => each.version === label);
  // The versions are listed newest first: what follows is what came before.
  const before = versions[at + 1] ?? versions[at - 1];
  const from = params.from ?? wish(before.version);
  const to = params.to ?? wish(label);
  const set = (next) => go("libraries", { ...params, ...next });
  const choice = (name, value) => html`<label>${t(name)} <select value=${value}
    onChange=${(event) => set({ [name]: event.target.value })}>
    ${versions.map((each) => html`<option value=${wish(each.version)}>
      ${shownLabel(each.version, t)}</option>`)}</select></label>`;
  const load = (signal) => get(
    `${pathOf(library)}/changes`, { from_version: from, to_version: to }, signal,
  );
  return html`<div class="filters">${choice("from", from)} ${choice("to", to)}</div>
    <${Part} load=${load} inputs=${[library, from, to]}>${({ pages }) => html`
      <${ChangeList} key=${`${from} ${to}`} pages=${pages} library=${library} from=${from} to=${to}
        only=${params.only} onOnly=${(only) => set({ only })} />`}<//>`;
}

function ChangeList({ pages, library, from, to, only, onOnly }) {
  const t = useTexts(texts);
  const [limit, setLimit] = useState(ROWS);
  if (!pages.length) return html`<p class="soft">${t("noChange")}</p>`;
  const shown = KINDS.includes(only) ? pages.filter((each) => each.change === only) : pages;
  const chip = (kind, name, count) => html`<button type="button" class="chip"
    aria-pressed=${String(kind === (only ?? null))} onClick=${() => onOnly(kind)}>
    ${name} <small>${count}</small></button>`;
  return html`<p class="chips">${chip(null, t("allPages"), pages.length)}
      ${KINDS.map((kind) => [kind, pages.filter((each) => each.change === kind).length])
        .filter(([, count]) => count)
        .map(([kind, count]) => chip(kind, t(`is_${kind}`), count))}</p>
    ${shown.slice(0, limit).map((each) => html`<${PageChange} key=${`${each.key} ${each.old_key}`}
      change=${each} library=${library} from=${from} to=${to} />`)}
    ${shown.length > limit && html`<p><button class="button"
      onClick=${() => setLimit(limit + ROWS)}>${t("more")}</button></p>`}`;
}

function PageChange({ change, library, from, to }) {
  const t = useTexts(texts);
  const [open, setOpen] = useState(false);
  const moved = change.old_key && change.old_key !== change.key;
  return html`<details class="change" onToggle=${(event) => setOpen(event.target.open)}>
    <summary><span class="badge is-${change.change}">${t(`is_${change.change}`)}</span>
      ${" "}${change.title || change.key}
      ${" "}<small class="key">${moved ? `${change.old_key} → ` : ""}${change.key}</small>
    </summary>
    ${open && html`
      ${change.page_id && html`<p><${Link} view="search" params=${{ page: change.page_id }}>
        ${t("readPage")}<//></p>`}
      <${Sections} sections=${change.sections} />
      <${Diff} change=${change} library=${library} from=${from} to=${to} />`}
  </details>`;
}

function Sections({ sections }) {
  const t = useTexts(texts);
  if (!sections.length) return null;
  const name = (path) => (path?.length ? path.join(" › ") : t("beforeHeadings"));
  return html`<ul class="sections">${sections.map((each) => html`<li>
    <span class="badge is-${each.change}">${t(`is_${each.change}`)}</span> ${name(each.section)}
    ${each.change === "moved" && html` <small>${t("before")} ${each.old_key}
      ${" "}${name(each.old_section)}</small>`}
  </li>`)}</ul>`;
}

function Diff({ change, library, from, to }) {
  const t = useTexts(texts);
  const load = async (signal) => {
    const given = { from_version: from, to_version: to, page: change.key, diff: true };
    const { pages } = await get(`${pathOf(library)}/changes`, given, signal);
    return pages.find((each) => each.key === change.key)?.diff ?? "";
  };
  return html`<${Part} load=${load}>${(diff) => (diff ? html`<${Lines} diff=${diff} />`
    : html`<p class="soft">${t("sameText")}</p>`)}<//>`;
}

const KIND_OF = { "+": "plus", "-": "minus", "@": "place" };

/** A unified diff; signs tell lines apart, colours only say it again. */
function Lines({ diff }) {
  const t = useTexts(texts);
  const lines = diff.split("\n").filter((line) => !/^(---|\+\+\+) /.test(line));
  return html`<pre class="diff" tabindex="0" role="region" aria-label=${t("diff")}>
    ${lines.map((line) => html`<span class=${KIND_OF[line[0]] ?? ""}>${line}${"\n"}</span>`)}
  </pre>`;
}
