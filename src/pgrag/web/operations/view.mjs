// Operations: what was searched and what was not found, answers, evaluations, jobs, the audit.

import { get, service, useLoaded } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { Tabs } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { Heading, Needs } from "../core/tables.mjs";
import { useTexts } from "../core/texts.mjs";
import { JobList } from "../libraries/jobs.mjs";
import { seesJobs } from "../libraries/progress.mjs";
import { Answers } from "./answers.mjs";
import { Audit } from "./audit.mjs";
import { Evaluations } from "./evaluations.mjs";
import { Feedback } from "./feedback.mjs";
import { Gaps } from "./gaps.mjs";
import { Searches } from "./searches.mjs";
import { Settings } from "./settings.mjs";
import { texts } from "./texts.mjs";

/** Each part with what it needs, and whether it is about a period and a library. */
const PARTS = {
  searches: [Searches, "observe", true], gaps: [Gaps, "observe", true],
  feedback: [Feedback, "observe", true], answers: [Answers, "observe", true],
  evaluations: [Evaluations, "observe", false], jobs: [Jobs, "jobs", false],
  settings: [Settings, "observe", false], audit: [Audit, "administer", false],
};
const DAYS = [7, 30, 90, 365];

export function View({ params }) {
  const t = useTexts(texts);
  const known = useStore(service);
  const name = Object.hasOwn(PARTS, params.show ?? "") ? params.show : "searches";
  const [Shown, right, isOverTime] = PARTS[name];
  const may = known && (right === "jobs" ? seesJobs(known) : known.may[right]);
  const scope = {
    days: DAYS.includes(Number(params.days)) ? Number(params.days) : 30,
    library: params.library?.includes(",") ? "" : params.library ?? "",
  };
  const choose = (show) => go("operations", { show, days: params.days, library: params.library });
  return html`<main class="sheet tabular operations" id="content">
    <div class="head"><${Heading}>${t("operations")}<//>
      ${isOverTime && html`<${Scope} params=${params} scope=${scope} />`}</div>
    <${Tabs} id="operations" label=${t("operations")} chosen=${name} onChoose=${choose}
      tabs=${Object.keys(PARTS).map((each) => [each, t(`tab_${each}`)])} />
    <div role="tabpanel" id="operations-panel" aria-label=${t(`tab_${name}`)}>
      ${known && !may && html`<${Needs} role=${right === "jobs" ? "write" : "admin"} />`}
      ${may && isOverTime && !known.records_searches && html`<div class="needs">
        <p>${t("recordsNothing")} <code>PGRAG_RECORD_SEARCHES=true</code></p></div>`}
      ${may && html`<${Shown} key=${name} params=${params} scope=${scope} />`}
    </div></main>`;
}

function Scope({ params, scope }) {
  const t = useTexts(texts);
  const { value } = useLoaded((signal) => get("v1/libraries", {}, signal), []);
  const names = value?.libraries.map((each) => each.library) ?? [];
  // What was searched may be a library that is gone, or that is not known yet.
  if (scope.library && !names.includes(scope.library)) names.unshift(scope.library);
  const set = (name) => (event) => go("operations", { ...params, [name]: event.target.value });
  return html`<div class="filters">
    <label>${t("period")} <select value=${scope.days} onChange=${set("days")}>
      ${DAYS.map((n) => html`<option value=${n}>${t("lastDays", { n })}</option>`)}</select></label>
    <label>${t("library")} <select value=${scope.library} onChange=${set("library")}>
      <option value="">${t("allLibraries")}</option>
      ${names.map((each) => html`<option value=${each}>${each}</option>`)}</select></label></div>`;
}

function Jobs({ params }) {
  return html`<${JobList} state=${params.state} />`;
}
