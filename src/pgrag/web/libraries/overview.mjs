// All libraries in one table, with what has happened to them lately.

import { get, service, useLoaded } from "../core/api.mjs";
import { Link } from "../core/address.mjs";
import { html, useEffect, useState } from "../core/html.mjs";
import { useStore } from "../core/store.mjs";
import { Heading, Part, Refused, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { Progress, useRunning } from "./progress.mjs";
import { eachOf, pathOf, shownLabel, sourceOf } from "./names.mjs";
import { texts } from "./texts.mjs";

/** Rows of the table at first: each asks the service twice. */
const ROWS = 50;

export function Overview() {
  const t = useTexts(texts);
  const known = useStore(service);
  const [limit, setLimit] = useState(ROWS);
  const running = useRunning(known);
  const [tries, setTries] = useState(0);
  const { value, problem } = useLoaded(
    (signal) => get("v1/libraries", {}, signal), [tries, running.ended, known?.caller?.name],
  );
  const libraries = value?.libraries ?? [];
  const shown = libraries.slice(0, limit);
  const details = useDetails(shown.map((each) => each.library), running.ended);
  const total = (name) => libraries.reduce((sum, each) => sum + each[name], 0);
  return html`
    <div class="head"><div><${Heading}>${t("libraries")}<//>
      ${value && html`<span class="soft">${t("libraryCount", { n: libraries.length })},
        ${" "}${t("versionCount", { n: total("versions") })},
        ${" "}${t("pageCount", { n: total("pages") })}</span>`}</div>
      <${Tasks} /></div>
    ${known?.may.observe && html`<${Cards} details=${details} />`}
    ${problem && html`<${Refused} problem=${problem} onRetry=${() => setTries(tries + 1)} />`}
    ${!value && !problem && html`<p class="soft" aria-busy="true">${t("loading")}</p>`}
    ${value && !libraries.length && html`<${Empty} />`}
    ${libraries.length > 0 && html`<${List} libraries=${shown} details=${details}
      jobs=${running.jobs} />`}
    ${libraries.length > limit && html`<p><button class="button"
      onClick=${() => setLimit(limit + ROWS)}>${t("more")}</button></p>`}`;
}

export function Tasks({ library, version }) {
  const t = useTexts(texts);
  const params = { library, version };
  return html`<div class="tasks">
    <${Link} class="button" view="libraries" params=${{ show: "jobs", library }}>${t("jobs")}<//>
    <${Link} class="button" view="libraries" params=${{ ...params, show: "upload" }}>
      ${t("uploadFiles")}<//>
    <${Link} class="button main" view="libraries" params=${{ ...params, show: "add" }}>
      ${t("addSource")}<//>
  </div>`;
}

function Empty() {
  const t = useTexts(texts);
  return html`<p>${t("noLibrary")} <code>pgrag index LIBRARY SOURCE</code></p>`;
}

/** By library: its versions, and what reading lost in them; as they come. */
function useDetails(names, ended) {
  const [details, setDetails] = useState({});
  useEffect(() => {
    const abort = new AbortController();
    const load = (name) => Promise.all([
      get(`${pathOf(name)}/versions`, {}, abort.signal),
      get(`${pathOf(name)}/reading`, {}, abort.signal),
    ]).then(([{ versions }, { versions: reading }]) => ({ versions, reading }), () => null);
    const add = (name, value) => abort.signal.aborted
      || setDetails((before) => ({ ...before, [name]: value }));
    eachOf(names, 3, load, add);
    return () => abort.abort();
  }, [names.join("\n"), ended]);
  return details;
}

function List({ libraries, details, jobs }) {
  const t = useTexts(texts);
  const format = useFormats();
  const of = (row) => details[row.library];
  const counted = (row) => of(row)?.reading.reduce((sum, each) => sum + each.warnings, 0);
  const columns = [
    [t("library"), (row) => html`<${Link} view="libraries" params=${{ library: row.library }}>
      <b>${row.library}</b><//>`],
    [t("versions"), (row) => html`<${Labels} row=${row} versions=${of(row)?.versions} />`],
    [t("pages"), (row) => format.number(row.pages), true],
    [t("passages"), (row) => format.number(row.documents), true],
    [t("warnings"), (row) => {
      const count = counted(row);
      return count ? html`<${Link} view="libraries"
        params=${{ library: row.library, warned: 1 }}>${format.number(count)}<//>` : count;
    }, true],
    [t("lastIndexed"), (row) => {
      const job = jobs.find((each) => each.library === row.library);
      return job ? html`<${Progress} job=${job} />`
        : row.updated_at && html`<time datetime=${row.updated_at}
            title=${format.moment(row.updated_at)}>${format.ago(row.updated_at)}</time>`;
    }],
    [t("source"), (row) => {
      const [first] = of(row)?.versions ?? [];
      return first && html`<span class="source">${sourceOf(first.source, t)}</span>`;
    }],
  ];
  return html`<${Table} caption=${t("libraries")} columns=${columns} rows=${libraries}
    keyOf=${(row) => row.library} />`;
}

function Labels({ row, versions }) {
  const t = useTexts(texts);
  const labels = versions?.map((each) => each.version) ?? [row.newest];
  const more = row.versions - Math.min(3, labels.length);
  return html`${labels.slice(0, 3).map((each) => shownLabel(each, t)).join(" · ")}
    ${more > 0 && html` <small>+${more}</small>`}`;
}

function Cards({ details }) {
  const t = useTexts(texts);
  const load = (signal) => Promise.all(["day", "all"].map((period) =>
    get("v1/metrics/searches", { days: 7, period }, signal).then((answer) => answer.metrics)));
  return html`<${Part} load=${load}>${([days, all]) => html`<div class="cards">
    <${SearchCards} days=${days} all=${all} />
    <${BrokenCard} details=${details} /></div>
    ${!all.length && html`<p class="soft">${t("noSearches")}</p>`}`}<//>`;
}

function SearchCards({ days, all }) {
  const t = useTexts(texts);
  const format = useFormats();
  const searches = all.reduce((sum, row) => sum + row.searches, 0);
  const empty = all.reduce((sum, row) => sum + row.searches * (row.empty_share ?? 0), 0);
  // Percentiles of several libraries do not add up: the largest bounds them all.
  const [slowest] = [...all].sort((one, other) => other.p95_ms - one.p95_ms);
  const milliseconds = (value) => `${format.number(value, value < 10 ? 1 : 0)} ms`;
  return html`
    <div class="card"><small>${t("searches7")}</small><b>${format.number(searches)}</b>
      <${Line} days=${days} /></div>
    <div class="card"><small>${t("withoutHit")}</small>
      <b>${searches ? format.percent(empty / searches, 1) : "–"}</b>
      <small><${Link} view="operations" params=${{ show: "gaps" }}>
        ${t("notFoundByReaders")}<//></small></div>
    <div class="card"><small>${t("p95")}</small>
      <b>${slowest ? milliseconds(slowest.p95_ms) : "–"}</b>
      <small>${slowest && `${all.length > 1 ? `${slowest.library_name ?? t("several")}, ` : ""}
        p50 ${milliseconds(slowest.p50_ms)}`}</small></div>`;
}

/** Searches of the last seven days as a line; the number above it says the rest. */
function Line({ days }) {
  const counts = Array.from({ length: 7 }, (_, n) => {
    const day = new Date(Date.now() - (6 - n) * 86400e3).toISOString().slice(0, 10);
    return days.reduce((sum, row) => sum + (row.starts_on === day ? row.searches : 0), 0);
  });
  const most = Math.max(1, ...counts);
  const points = counts.map((count, n) => `${(n * 200) / 6},${32 - (count / most) * 28}`).join(" ");
  return html`<svg class="trend" viewBox="0 0 200 34" preserveAspectRatio="none" aria-hidden="true">
    <polyline points=${points} /></svg>`;
}

function BrokenCard({ details }) {
  const t = useTexts(texts);
  const format = useFormats();
  // Old versions are not repaired: what counts are the links of the newest one.
  const broken = Object.entries(details).flatMap(([name, each]) => {
    const newest = each?.versions.find((version) => version.is_newest)?.version;
    const count = each?.reading.find((row) => row.version === newest)?.broken_links ?? 0;
    return count ? [[name, count]] : [];
  }).sort(([one], [other]) => one.localeCompare(other));
  const total = broken.reduce((sum, [, count]) => sum + count, 0);
  return html`<div class="card"><small>${t("brokenLinks")}</small><b>${format.number(total)}</b>
    <small>${broken.slice(0, 3).map(([library], n) => html`${n > 0 && ", "}
      <${Link} view="libraries" params=${{ library, show: "links" }}>${library}<//>`)}
      ${broken.length > 3 && ` +${broken.length - 3}`}</small></div>`;
}
