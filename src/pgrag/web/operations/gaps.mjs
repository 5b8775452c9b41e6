// What readers looked for and did not find, with the pages that come nearest.

import { get } from "../core/api.mjs";
import { Link } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Copy } from "../core/parts.mjs";
import { Part, Table, csv } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";

const ROWS = 50;

export function Gaps({ scope }) {
  const t = useTexts(texts);
  const load = (signal) => get("v1/metrics/gaps", { ...scope, top_k: ROWS }, signal);
  return html`<p class="soft">${t("gapsAbout")}</p>
    <${Part} load=${load} inputs=${[scope.days, scope.library]}>${({ gaps }) => html`
      <${List} gaps=${gaps} scope=${scope} />`}<//>`;
}

function List({ gaps, scope }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("topic"), (row) => html`<${Link} view="search"
        params=${{ q: row.topic, library: row.library_name ?? scope.library }}>${row.topic}<//>
      ${row.examples.filter((each) => each !== row.topic).map((each) => html`
        <small class="key">${each}</small>`)}`],
    [t("library"), (row) => row.library_name ?? t("several")],
    [t("searches"), (row) => format.number(row.searches), true],
    [t("how"), (row) => ways(row, t)],
    [t("nearest"), (row) => (row.pages.length
      ? html`<ol class="near">${row.pages.map((page) => html`<li>
        <${Page} page=${page} /></li>`)}</ol>` : t("noPageNear"))],
    [t("last"), (row) => format.ago(row.last_at)],
  ];
  return html`<${Table} caption=${t("tab_gaps")} columns=${columns} rows=${gaps}
      nothing=${t("noGap")} />
    ${gaps.length > 0 && html`<p class="tasks">
      <${Copy} text=${markdown(gaps, t)} label=${t("copyMarkdown")} />
      <${Copy} text=${asCsv(gaps)} label=${t("copyCsv")} /></p>`}`;
}

/** A page is named by its key, for the gaps know its library but not its id. */
function Page({ page }) {
  const name = page.title || page.key;
  return html`<${Link} view="libraries"
    params=${{ library: page.library, name: page.key }}>${name}<//>
    <small> ${page.score.toFixed(2)}</small>`;
}

const WAYS = ["found_nothing", "found_little", "rephrased", "rated_badly"];
const ways = (row, t) => WAYS.filter((name) => row[name])
  .map((name) => t(name, { n: row[name] })).join(", ");

/** The list as writers put it into an issue: topics without a page, each with where it could go. */
function markdown(gaps, t) {
  // Signs of Markdown in a query are its text.
  const plain = (text) => text.replace(/[\\`*_[\]<>#|]/g, "\\$&").replace(/\s+/g, " ");
  const line = (gap) => {
    const near = gap.pages.map((page) => `\`${page.key}\``).join(", ");
    return `- [ ] **${plain(gap.topic)}** (${t("searchCount", { n: gap.searches })})`
      + `${near && `: ${t("nearestPages")} ${near}`}`;
  };
  return [`## ${t("noSuchPage")}`, "", ...gaps.map(line)].join("\n");
}

function asCsv(gaps) {
  const header = ["topic", "library", "searches", ...WAYS, "last", "nearest pages"];
  return csv(header, gaps.map((gap) => [
    gap.topic, gap.library_name, gap.searches, ...WAYS.map((name) => gap[name]), gap.last_at,
    gap.pages.map((page) => page.key).join(" "),
  ]));
}
