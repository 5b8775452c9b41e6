// Libraries: all of them, one of them, what brings pages in, and the jobs that do so.

import { Link } from "../core/address.mjs";
import { html } from "../core/html.mjs";
import { useTexts } from "../core/texts.mjs";
import { AddSource } from "./add.mjs";
import { Graph } from "./graph.mjs";
import { Job, Jobs } from "./jobs.mjs";
import { Library } from "./library.mjs";
import { Overview } from "./overview.mjs";
import { texts } from "./texts.mjs";
import { Upload } from "./upload.mjs";

const TASKS = { add: AddSource, upload: Upload, jobs: Jobs };

export function View({ params }) {
  const t = useTexts(texts);
  const task = Object.hasOwn(TASKS, params.show ?? "") ? TASKS[params.show] : null;
  // A scope of several libraries is none of them: it shows them all.
  const library = params.library?.includes(",") ? "" : params.library;
  const Shown = params.graph ? Graph : params.job ? Job : task ?? (library ? Library : Overview);
  const isBelow = Shown !== Overview;
  return html`<main class="sheet tabular libraries" id="content">
    ${isBelow && html`<nav class="trail" aria-label=${t("trail")}>
      <${Link} view="libraries">${t("all")}<//>
      ${library && Shown !== Library && html` › <${Link} view="libraries" params=${{ library }}>
        ${library}<//>`}
      ${Shown === Job && html` › <${Link} view="libraries" params=${{ show: "jobs" }}>
        ${t("jobs")}<//>`}
    </nav>`}
    <${Shown} key=${params.job ?? library} params=${params} />
  </main>`;
}
