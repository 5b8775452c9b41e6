// Labelled sets: their runs over time, and two of them compared.

import { get } from "../core/api.mjs";
import { Chart } from "../core/chart.mjs";
import { Link, go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { useShown } from "./shown.mjs";
import { texts } from "./texts.mjs";

const PREFERRED = ["ndcg@10", "mrr@10", "recall@10"];
const LINES = 5;

export function Evaluations({ params }) {
  const t = useTexts(texts);
  const load = async (signal) => (await get("v1/evaluations", {}, signal)).sets;
  return html`<${Part} load=${load}>${(sets) => (sets.length
    ? html`<${Sets} params=${params} sets=${sets} />`
    : html`<p>${t("noSets")} <code>pgrag eval import</code></p>`)}<//>`;
}

function Sets({ params, sets }) {
  const t = useTexts(texts);
  const chosen = sets.find((each) => each.name === params.set) ?? sets[0];
  const load = async (signal) =>
    (await get(`v1/evaluations/${encodeURIComponent(chosen.name)}/runs`, {}, signal)).runs;
  const set = (event) => go("operations", { show: "evaluations", set: event.target.value });
  return html`<div class="filters"><label>${t("set")} <select value=${chosen.name} onChange=${set}>
      ${sets.map((each) => html`<option value=${each.name}>${each.name}</option>`)}</select></label>
      <span class="soft">${t("setAbout", { queries: chosen.queries, judgements: chosen.judgements,
        library: chosen.library, unit: chosen.unit })}</span></div>
    <${Part} key=${chosen.name} load=${load}>${(runs) => (runs.length
      ? html`<${Runs} params=${params} runs=${runs} />`
      : html`<p class="soft">${t("noRuns")} <code>pgrag eval run ${chosen.name}</code></p>`)}<//>`;
}

/** The metrics that runs have, the usual ones first. */
function metricsOf(runs) {
  const names = new Set(runs.flatMap((run) => Object.keys(run.averages)));
  const first = PREFERRED.filter((name) => names.has(name));
  return [...first, ...[...names].filter((name) => !first.includes(name) && !name.endsWith("_ms"))];
}

function Runs({ params, runs }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { metric } = useShown();
  const metrics = metricsOf(runs);
  const asked = metrics.includes(params.metric) ? params.metric : metrics[0];
  const set = (next) => go("operations", { ...params, ...next });
  const names = [...new Set(runs.map((run) => run.name))].slice(0, LINES);
  const dated = [...runs].reverse();
  // Each configuration is a line through its own runs.
  const lines = names.map((name) => [
    name, dated.map((run) => (run.name === name ? run.averages[asked] ?? null : null)),
  ]);
  const columns = [
    [t("run"), (row) => `${row.run_id} ${row.name}`],
    [t("at"), (row) => format.moment(row.started_at)],
    [t("version"), (row) => row.version || "–"],
    ...metrics.slice(0, 4).map((name) => [name, (row) => metric(row.averages[name]), true]),
    [t("queries"), (row) => format.number(row.query_count), true],
  ];
  return html`<div class="filters"><label>${t("metric")} <select value=${asked}
      onChange=${(event) => set({ metric: event.target.value })}>
      ${metrics.map((each) => html`<option value=${each}>${each}</option>`)}</select></label></div>
    <${Chart} times=${dated.map((run) => Date.parse(run.started_at))} lines=${lines} />
    <${Table} caption=${t("runs")} columns=${columns} rows=${runs} keyOf=${(row) => row.run_id} />
    ${runs.length > 1 && html`
      <${Pair} params=${params} runs=${runs} metric=${asked} set=${set} />`}`;
}

function Pair({ params, runs, metric, set }) {
  const t = useTexts(texts);
  const has = (id) => runs.some((run) => String(run.run_id) === id);
  const one = has(params.run) ? params.run : String(runs[1].run_id);
  const other = has(params.other) ? params.other : String(runs[0].run_id);
  const choice = (name, value) => html`<label>${t(name)} <select value=${value}
    onChange=${(event) => set({ [name]: event.target.value })}>${runs.map((run) => html`
      <option value=${String(run.run_id)}>${run.run_id} ${run.name} ${run.version}</option>`)}
    </select></label>`;
  const load = (signal) => (one === other ? null
    : get(`v1/evaluation-runs/${one}/comparison`, { other, metric }, signal));
  return html`<h2>${t("comparison")}</h2>
    <div class="filters">${choice("run", one)} ${choice("other", other)}</div>
    <${Part} load=${load} inputs=${[one, other, metric]}>${(told) => html`
      <${Compared} told=${told} />`}<//>`;
}

function Compared({ told }) {
  const t = useTexts(texts);
  const { metric } = useShown();
  const columns = [
    [t("query"), (row) => html`<${Link} view="search" params=${{ q: row.query }}>${row.query}<//>`],
    [t("run"), (row) => metric(row.score), true],
    [t("other"), (row) => metric(row.other_score), true],
    [t("difference"), (row) => metric(row.difference), true],
  ];
  const isSure = told.p_value < 0.05;
  return html`<p>${told.metric}: ${metric(told.score)} → ${metric(told.other_score)}
      ${" "}(${told.difference > 0 ? "+" : ""}${metric(told.difference)},
      ${told.lower_bound !== null && html` ${t("interval")} ${metric(told.lower_bound)} …
        ${" "}${metric(told.upper_bound)},`}
      ${" "}p = ${metric(told.p_value)}). <strong>${t(isSure ? "isSure" : "isChance")}</strong></p>
    <p class="soft">${t("winsOf", { wins: told.wins, losses: told.losses, ties: told.ties })}</p>
    <${Table} caption=${t("moved")} columns=${columns} rows=${told.moved}
      nothing=${t("nothingMoved")} />`;
}
