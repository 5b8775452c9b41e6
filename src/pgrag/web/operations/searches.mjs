// Recorded searches: how many, how fast, how many without a hit; the frequent, empty and slow ones.

import { get } from "../core/api.mjs";
import { Chart } from "../core/chart.mjs";
import { Link } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { texts } from "./texts.mjs";
import { useShown } from "./shown.mjs";

export function Searches({ scope }) {
  const t = useTexts(texts);
  const inputs = [scope.days, scope.library];
  const period = scope.days > 120 ? "week" : "day";
  const load = (signal) => Promise.all([period, "all"].map((each) =>
    get("v1/metrics/searches", { ...scope, period: each }, signal).then((told) => told.metrics)));
  const step = period === "week" ? 7 : 1;
  return html`<${Part} load=${load} inputs=${inputs}>${([rows, all]) => (all.length
      ? html`<${Numbers} rows=${all} /><${OverTime} rows=${rows} step=${step} />`
      : html`<p>${t("noSearches")}</p>`)}<//>
    <${Queries} of="popular" scope=${scope} />
    <${Queries} of="empty" scope=${scope} />
    <${Slow} scope=${scope} />`;
}

/** Sums and weighted means of rows of several libraries. */
function summed(rows) {
  const searches = rows.reduce((sum, row) => sum + row.searches, 0);
  const mean = (name) => {
    const known = rows.filter((row) => row[name] !== null && row.searches);
    const weight = known.reduce((sum, row) => sum + row.searches, 0);
    return weight ? known.reduce((sum, row) => sum + row[name] * row.searches, 0) / weight : null;
  };
  // Percentiles of several libraries do not add up: the largest bounds them all.
  const most = (name) => (rows.length ? Math.max(...rows.map((row) => row[name] ?? 0)) : null);
  return { searches, mean, most };
}

function Numbers({ rows }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms, share } = useShown();
  const { searches, mean, most } = summed(rows);
  const rated = mean("feedback_share");
  const note = rows.length > 1 ? t("slowestLibrary") : "";
  return html`<div class="cards">
    <div class="card"><small>${t("searches")}</small><b>${format.number(searches)}</b>
      <small>${t("hitsEach", { n: Math.round((mean("mean_hits") ?? 0) * 10) / 10 })}</small></div>
    <div class="card"><small>${t("withoutHit")}</small><b>${share(mean("empty_share"))}</b></div>
    <div class="card"><small>p95</small><b>${ms(most("p95_ms"))}</b>
      <small>p50 ${ms(most("p50_ms"))} ${note}</small></div>
    <div class="card"><small>${t("rated")}</small><b>${share(rated)}</b>
      <small>${mean("mean_rating") === null ? "" : t("meanRating", {
        rating: format.number(mean("mean_rating"), 1) })}</small></div></div>`;
}

/** Every day or week from the first row until today: those without a search have none. */
function daysOf(rows, step) {
  const days = [];
  const first = rows.map((row) => row.starts_on).sort()[0];
  for (let at = Date.parse(first); at <= Date.now(); at += step * 86400e3) {
    days.push(new Date(at).toISOString().slice(0, 10));
  }
  return days;
}

function OverTime({ rows, step }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms, share, rating } = useShown();
  const days = daysOf(rows, step);
  const of = days.map((day) => ({ day, ...summed(rows.filter((row) => row.starts_on === day)) }));
  const lines = [
    [t("searches"), of.map((each) => each.searches)],
    ["p50", of.map((each) => each.most("p50_ms")), { axis: "right", unit: " ms" }],
    ["p95", of.map((each) => each.most("p95_ms")), { axis: "right", unit: " ms" }],
  ];
  const columns = [
    [t("from"), (row) => format.date(row.starts_on)],
    [t("library"), (row) => row.library_name ?? t("several")],
    [t("searches"), (row) => format.number(row.searches), true],
    [t("withoutHit"), (row) => share(row.empty_share), true],
    ["p50", (row) => ms(row.p50_ms), true], ["p95", (row) => ms(row.p95_ms), true],
    [t("slowest"), (row) => ms(row.max_ms), true],
    [t("rating"), (row) => rating(row.mean_rating), true],
  ];
  return html`<${Chart} areDays times=${days.map((day) => Date.parse(day))}
      lines=${lines} />
    <details><summary>${t("asTable")}</summary>
      <${Table} caption=${t("searchesOverTime")} columns=${columns} rows=${rows} /></details>`;
}

function Queries({ of, scope }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms, share, rating } = useShown();
  const load = (signal) => get(`v1/metrics/${of}-queries`, { ...scope, top_k: 10 }, signal);
  const query = (row) => html`<${Link} view="search"
    params=${{ q: row.query, library: row.library_name ?? scope.library }}>${row.query}<//>`;
  const common = [[t("searches"), (row) => format.number(row.searches), true]];
  const last = [t("last"), (row) => format.ago(row.last_at)];
  const columns = of === "popular" ? [
    [t("query"), query], ...common,
    [t("withoutHit"), (row) => share(row.empty_share), true],
    [t("median"), (row) => ms(row.median_ms), true],
    [t("rating"), (row) => rating(row.mean_rating), true], last,
  ] : [
    [t("query"), query], [t("library"), (row) => row.library_name ?? t("several")], ...common, last,
  ];
  return html`<h2>${t(`${of}Queries`)}</h2>
    <${Part} load=${load} inputs=${[scope.days, scope.library]}>${({ queries }) => html`
      <${Table} caption=${t(`${of}Queries`)} columns=${columns} rows=${queries}
        nothing=${t(`${of}None`)} />`}<//>`;
}

function Slow({ scope }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms } = useShown();
  const load = (signal) => get("v1/metrics/slow-searches", { ...scope, top_k: 10 }, signal);
  const steps = (row) => Object.entries(row.timings).sort(([, one], [, other]) => other - one)
    .map(([step, value]) => `${step} ${ms(value)}`).join(", ");
  const columns = [
    [t("query"), (row) => row.query],
    [t("library"), (row) => `${row.library_name ?? t("several")} ${row.version ?? ""}`],
    [t("duration"), (row) => ms(row.duration_ms), true],
    [t("stepsOf"), (row) => html`<small class="key">${steps(row)}</small>`],
    [t("client"), (row) => row.client], [t("at"), (row) => format.moment(row.at)],
  ];
  return html`<h2>${t("slowSearches")}</h2>
    <${Part} load=${load} inputs=${[scope.days, scope.library]}>${({ searches }) => html`
      <${Table} caption=${t("slowSearches")} columns=${columns} rows=${searches}
        nothing=${t("popularNone")} />`}<//>`;
}
