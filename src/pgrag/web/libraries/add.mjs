// A new source: a website, a folder or a repository that a worker shall index.

import { get, post, service, useLoaded } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { html, useState } from "../core/html.mjs";
import { useStore } from "../core/store.mjs";
import { Heading, Needs, Refused } from "../core/tables.mjs";
import { useTexts } from "../core/texts.mjs";
import { Field, Target, useForm } from "./fields.mjs";
import { texts } from "./texts.mjs";

const PLAIN = ["base_url", "language", "subfolder", "ref", "tags"];
const NUMBERS = ["max_pages", "max_depth"];
const LISTS = ["include", "exclude"];
const CHOICES = {
  profile: ["", "by_heading", "by_meaning", "short", "medium", "long"],
  slugs: ["", "github", "vitepress", "docusaurus", "mkdocs", "sphinx", "hugo", "obsidian"],
  converter: ["", "docling"],
  versions: ["", "auto"],
};
const NAMES = ["source", "every", ...PLAIN, ...NUMBERS, ...LISTS, ...Object.keys(CHOICES)];
const EMPTY = Object.fromEntries(NAMES.map((name) => [name, ""]));

export function AddSource({ params }) {
  const t = useTexts(texts);
  return html`<${Heading}>${t("addSource")}<//>
    <p class="soft">${t("addAbout")}</p>
    <${ForWriters}><${Form} params=${params} /><//>`;
}

/** What only those may see who may write; the others learn what they need. */
export function ForWriters({ children }) {
  const known = useStore(service);
  if (!known) return null;
  if (!known.may.index) return html`<${Needs} role="write" allowsWrites=${known.allows_writes} />`;
  return html`<${Workless} known=${known} />${children}`;
}

/** What to do where this service has no worker. */
export function Workless({ known }) {
  const t = useTexts(texts);
  if (known.works_on_jobs) return null;
  return html`<div class="needs"><p>${t("noWorker")} <code>pgrag worker</code></p></div>`;
}

/** What the service takes: empty fields are left out, lists come with commas. */
function bodyOf(values) {
  const body = {};
  for (const [name, value] of Object.entries(values)) {
    const text = value.trim();
    if (!text && name !== "source" && name !== "library") continue;
    if (NUMBERS.includes(name)) body[name] = /^\d+$/.test(text) ? Number(text) : text;
    else if (LISTS.includes(name)) body[name] = text.split(/\s*,\s*/).filter(Boolean);
    else body[name] = text;
  }
  return body;
}

export function useLibraries() {
  return useLoaded((signal) => get("v1/libraries", {}, signal), []).value?.libraries ?? [];
}

function Form({ params }) {
  const t = useTexts(texts);
  const of = useForm({ library: params.library ?? "", version: params.version ?? "", ...EMPTY });
  const [sending, setSending] = useState(false);
  const libraries = useLibraries();
  async function send(event) {
    event.preventDefault();
    setSending(true);
    try {
      const { job_id } = await post("v1/jobs", bodyOf(of.values));
      go("libraries", { job: job_id });
    } catch (problem) {
      of.setProblem(problem);
      setSending(false);
    }
  }
  return html`<form class="form" ref=${of.form} onSubmit=${send} novalidate>
    <${Target} of=${of} libraries=${libraries} />
    <${Field} of=${of} name="source" required maxlength="4000" autocomplete="off"
      spellcheck=${false} hint=${t("hintSource")} />
    <${Field} of=${of} name="every" hint=${t("hintEvery")} />
    <details><summary>${t("options")}</summary>
      ${LISTS.map((name) => html`<${Field} of=${of} name=${name} hint=${t("hintGlobs")} />`)}
      ${NUMBERS.map((name) => html`<${Field} of=${of} name=${name} inputmode="numeric" />`)}
      ${PLAIN.map((name) => html`<${Field} of=${of} name=${name} hint=${t(`hint_${name}`)} />`)}
      ${Object.entries(CHOICES).map(([name, options]) => html`
        <${Field} of=${of} name=${name} options=${options} hint=${t(`hint_${name}`)} />`)}
    </details>
    ${of.problem && html`<${Refused} problem=${of.problem} />`}
    <p><button class="button main" disabled=${sending}>${t("startJob")}</button></p>
  </form>`;
}
