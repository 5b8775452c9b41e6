// Answers that the language model wrote: how many, with which outcome, how fast.

import { get } from "../core/api.mjs";
import { Chart } from "../core/chart.mjs";
import { html } from "../core/html.mjs";
import { Part, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { useShown } from "./shown.mjs";
import { texts } from "./texts.mjs";

export function Answers({ scope }) {
  const t = useTexts(texts);
  const period = scope.days > 120 ? "week" : "day";
  const load = (signal) => get("v1/metrics/answers", { ...scope, period }, signal);
  return html`<${Part} load=${load} inputs=${[scope.days, scope.library]}>${({ metrics }) => (
    metrics.length ? html`<${OverTime} rows=${metrics} />`
      : html`<p class="soft">${t("noAnswers")}</p>`)}<//>`;
}

function OverTime({ rows }) {
  const t = useTexts(texts);
  const format = useFormats();
  const { ms, share, number, whole } = useShown();
  const days = [...new Set(rows.map((row) => row.starts_on))].sort();
  const of = (day) => rows.filter((row) => row.starts_on === day);
  const lines = [
    [t("answers"), days.map((day) => of(day).reduce((sum, row) => sum + row.answers, 0))],
    ["p95", days.map((day) => Math.max(...of(day).map((row) => row.p95_ms ?? 0))),
      { axis: "right", unit: " ms" }],
  ];
  const columns = [
    [t("from"), (row) => format.date(row.starts_on)],
    [t("library"), (row) => row.library_name ?? t("several")],
    [t("answers"), (row) => format.number(row.answers), true],
    [t("answered"), (row) => share(row.answered_share), true],
    [t("notThere"), (row) => share(row.not_in_documentation_share), true],
    [t("failed"), (row) => share(row.failed_share), true],
    [t("cancelled"), (row) => share(row.cancelled_share), true],
    ["p50", (row) => ms(row.p50_ms), true], ["p95", (row) => ms(row.p95_ms), true],
    [t("tokensIn"), (row) => whole(row.mean_prompt_tokens), true],
    [t("tokensOut"), (row) => whole(row.mean_completion_tokens), true],
    [t("rating"), (row) => number(row.mean_rating), true],
  ];
  return html`<${Chart} times=${days.map((day) => Date.parse(day))} lines=${lines} />
    <${Table} caption=${t("tab_answers")} columns=${columns} rows=${rows} />`;
}
