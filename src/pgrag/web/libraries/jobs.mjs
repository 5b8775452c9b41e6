// Jobs: what workers bring into libraries, all of them and one in detail.

import { get, post, service } from "../core/api.mjs";
import { Link, go } from "../core/address.mjs";
import { html, useEffect, useState } from "../core/html.mjs";
import { announce } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { Heading, Needs, Paged, Refused, Table } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { Workless } from "./add.mjs";
import { shownLabel, wish } from "./names.mjs";
import { ENDED, Progress, seesJobs, useJob } from "./progress.mjs";
import { texts } from "./texts.mjs";

const STATES = ["uploading", "queued", "running", "succeeded", "failed", "cancelled"];
const ROWS = 50;

export function Jobs({ params }) {
  const t = useTexts(texts);
  const known = useStore(service);
  const set = (event) => go("libraries", { ...params, state: event.target.value });
  return html`<${Heading}>${t("jobs")}<//>
    ${known && !seesJobs(known) && html`<${Needs} role="write" />`}
    ${seesJobs(known) && html`<${Workless} known=${known} />
      <div class="filters"><label>${t("state")} <select value=${params.state ?? ""} onChange=${set}>
        <option value="">${t("anyState")}</option>
        ${STATES.map((each) => html`<option value=${each}>${t(`is_${each}`)}</option>`)}
      </select></label></div>
      <${JobList} library=${params.library} state=${params.state} />`}`;
}

const nameOf = (source, t) => (source === "upload" ? t("upload") : source);

/** Jobs, the latest first; of a library, in a state. */
export function JobList({ library, state }) {
  const t = useTexts(texts);
  const format = useFormats();
  const load = async (before, signal) => {
    const given = { library, state: STATES.includes(state) ? state : null, top_k: ROWS, before };
    const { jobs, next } = await get("v1/jobs", given, signal);
    return { rows: jobs, next };
  };
  const columns = [
    [t("library"), (row) => html`<${Link} view="libraries" params=${{ job: row.job_id }}>
      ${row.library}${row.version && ` ${row.version}`}<//>`],
    [t("state"), (row) => html`<span class="badge is-${row.state}">${t(`is_${row.state}`)}</span>
      ${row.state === "running" && html` <${Progress} job=${row} />`}
      ${row.every && html`<small class="key">${t("again", { every: row.every })}</small>`}`],
    [t("source"), (row) => html`<span class="source">${nameOf(row.source, t)}</span>`],
    [t("askedBy"), (row) => row.asked_by],
    [t("made"), (row) => format.ago(row.created_at)],
    [t("ended"), (row) => row.finished_at && format.ago(row.finished_at)],
  ];
  return html`<${Paged} load=${load} inputs=${[library, state]}>${(rows) => html`
    <${Table} caption=${t("jobs")} columns=${columns} rows=${rows} nothing=${t("noJob")}
      keyOf=${(row) => row.job_id} />`}<//>`;
}

export function Job({ params }) {
  const t = useTexts(texts);
  const [again, setAgain] = useState(0);
  const { job, problem } = useJob(params.job, again);
  const state = job?.state;
  useEffect(() => {
    if (state) announce(t(`is_${state}`));
  }, [state]);
  return html`<${Heading}>${job ? t("jobOf", { library: job.library, version: job.version })
      : t("job", { id: params.job })}<//>
    ${problem && html`<${Refused} problem=${problem} onRetry=${() => setAgain(again + 1)} />`}
    ${job && html`<${Standing} job=${job} onChange=${() => setAgain(again + 1)} />
      ${job.report && html`<${Report} report=${job.report} />`}
      ${job.failures.length > 0 && html`<${Failures} failures=${job.failures} />`}`}`;
}

function Standing({ job, onChange }) {
  const t = useTexts(texts);
  const format = useFormats();
  const known = useStore(service);
  const { library, version } = job;
  const rows = [
    [t("source"), nameOf(job.source, t)],
    [t("askedBy"), job.asked_by], [t("made"), format.moment(job.created_at)],
    job.finished_at && [t("ended"), format.moment(job.finished_at)],
    job.every && [t("schedule"), t("again", { every: job.every })],
    job.attempts > 0
      && [t("attempt"), t("wordsOf", { kept: job.attempts, shown: job.max_attempts })],
    job.worker && [t("worker"), job.worker],
  ].filter(Boolean);
  return html`<p class="standing"><span class="badge is-${job.state}">${t(`is_${job.state}`)}</span>
      ${job.state === "running" && html` <${Progress} job=${job} />`}
      ${job.state === "queued" && ` ${t("place", { n: job.place ?? 1 })}`}
      ${job.waits_for && html` <${Link} view="libraries" params=${{ job: job.waits_for }}>
        ${t("waitsFor")}<//>`}
      ${job.is_cancelling && job.state === "running" && ` ${t("isCancelling")}`}</p>
    ${job.state === "queued" && known && html`<${Workless} known=${known} />`}
    <dl class="facts">${rows.map(([name, value]) => html`
      <div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>
    <div class="tasks">
      ${known?.may.index && html`<${Change} job=${job} onChange=${onChange} />`}
      ${job.state === "succeeded" && html`
        <${Link} class="button" view="libraries" params=${{ library, version: wish(version) }}>
          ${library} ${shownLabel(version, t)}<//>
        <${Link} class="button main" view="search" params=${{ library, version: wish(version) }}>
          ${t("searchIt")}<//>`}</div>`;
}

function Change({ job, onChange }) {
  const t = useTexts(texts);
  const [problem, setProblem] = useState(null);
  const change = (what) => () => post(`v1/jobs/${job.job_id}/${what}`)
    .then(() => setProblem(null), setProblem).then(onChange);
  const isEnded = ENDED.includes(job.state);
  const goesOn = !isEnded || (job.every && job.state !== "cancelled");
  return html`${goesOn && html`<button class="button"
      disabled=${job.is_cancelling && job.state === "running"} onClick=${change("cancel")}>
      ${t("cancelJob")}</button>`}
    ${isEnded && html`<button class="button" onClick=${change("retry")}>${t("runAgain")}</button>`}
    ${problem && html`<${Refused} problem=${problem} />`}`;
}

function Report({ report }) {
  const t = useTexts(texts);
  const failed = Object.entries(report.failed ?? {});
  const warnings = report.warnings ?? [];
  const losses = (report.losses ?? []).map((each) => `${each.page}: ${t("wordsOf", {
    kept: each.words_kept, shown: each.words_shown })}`);
  return html`<h2>${t("report")}</h2>
    <p>${t("reportPages", { written: report.written, unchanged: report.unchanged,
      removed: report.removed, failed: failed.length + (report.more_failed ?? 0),
      seconds: Math.round(report.seconds * 10) / 10 })}</p>
    ${report.versions?.length > 0 && html`<p>${t("versions")}: ${report.versions.join(", ")}</p>`}
    <${Lines} title=${t("failedPages")}
      lines=${failed.map(([key, reason]) => `${key}: ${reason}`)} />
    <${Lines} title=${t("warnings")} lines=${warnings} />
    <${Lines} title=${t("wordsLost")} lines=${losses} />`;
}

function Lines({ title, lines }) {
  const t = useTexts(texts);
  const [limit, setLimit] = useState(ROWS);
  if (!lines.length) return null;
  return html`<h3>${title} (${lines.length})</h3>
    <ul class="lines">${lines.slice(0, limit).map((line) => html`<li>${line}</li>`)}</ul>
    ${lines.length > limit && html`<p><button class="button"
      onClick=${() => setLimit(limit + ROWS)}>
      ${t("more")}</button></p>`}`;
}

function Failures({ failures }) {
  const t = useTexts(texts);
  const format = useFormats();
  const columns = [
    [t("attempt"), (row) => row.attempt], [t("at"), (row) => format.moment(row.at)],
    [t("reason"), (row) => row.reason],
  ];
  return html`<h2>${t("failures")}</h2>
    <${Table} caption=${t("failures")} columns=${columns} rows=${failures} />`;
}
