// Files from this computer: chosen, dropped, or a folder. They become one job.

import { upload } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { html, useEffect, useRef, useState } from "../core/html.mjs";
import { announce } from "../core/parts.mjs";
import { Heading, Refused } from "../core/tables.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { ForWriters, useLibraries } from "./add.mjs";
import { Field, Target, useForm } from "./fields.mjs";
import { MOST, chosen, dropped, sorted } from "./files.mjs";
import { pathOf } from "./names.mjs";
import { texts } from "./texts.mjs";

const OPTIONS = ["base_url", "language"];
const SHOWN = 8;

export function Upload({ params }) {
  const t = useTexts(texts);
  return html`<${Heading}>${t("uploadFiles")}<//>
    <p class="soft">${t("uploadAbout")}</p>
    <${ForWriters}><${Form} params=${params} /><//>`;
}

function Form({ params }) {
  const t = useTexts(texts);
  const { library = "", version = "" } = params;
  const of = useForm({ library, version, base_url: "", language: "" });
  const [files, setFiles] = useState({ files: [], leftOut: 0 });
  const [replace, setReplace] = useState(false);
  const [share, setShare] = useState(null);
  const sending = useRef(null);
  const libraries = useLibraries();
  // Whoever leaves the view ends what is being sent.
  useEffect(() => () => sending.current?.abort(), []);
  const take = (pairs) => {
    const next = sorted(pairs);
    setFiles(next);
    announce(t("filesTaken", { n: next.files.length }));
  };
  async function send(event) {
    event.preventDefault();
    const problem = complaintOf(of.values, files.files, t);
    of.setProblem(problem);
    if (problem) return;
    sending.current = new AbortController();
    setShare(0);
    const given = (name) => of.values[name].trim();
    try {
      const job = await upload(`${pathOf(given("library"), given("version"))}/upload`, {
        params: { replace, ...Object.fromEntries(OPTIONS.map((name) => [name, given(name)])) },
        form: formOf(files.files), onProgress: setShare, signal: sending.current.signal,
      });
      go("libraries", { job: job.job_id });
    } catch (fault) {
      setShare(null);
      if (fault.name !== "AbortError") of.setProblem(fault);
    }
  }
  return html`<form class="form" ref=${of.form} onSubmit=${send} novalidate>
    <${Drop} onFiles=${take} wrong=${of.complaints.files} />
    <${Chosen} files=${files} />
    <${Target} of=${of} libraries=${libraries} />
    <p><label><input type="checkbox" checked=${replace}
      onChange=${(event) => setReplace(event.target.checked)} /> ${t("replace")}</label></p>
    <details><summary>${t("options")}</summary>
      ${OPTIONS.map((name) => html`<${Field} of=${of} name=${name} hint=${t(`hint_${name}`)} />`)}
    </details>
    ${of.problem && html`<${Refused} problem=${of.problem} />`}
    ${share === null ? html`<p><button class="button main">${t("send")}</button></p>`
      : html`<${Sending} share=${share} onCancel=${() => sending.current.abort()} />`}
  </form>`;
}

function complaintOf({ library }, files, t) {
  const errors = [];
  if (!files.length) errors.push({ field: "files", message: t("noFiles") });
  if (files.length > MOST) errors.push({ field: "files", message: t("tooManyFiles", { n: MOST }) });
  if (!library.trim()) errors.push({ field: "library", message: t("noName") });
  return errors.length ? { errors, title: errors[0].message } : null;
}

function formOf(files) {
  const form = new FormData();
  for (const [path, file] of files) form.append("file", file, path);
  return form;
}

function Drop({ onFiles, wrong }) {
  const t = useTexts(texts);
  const [over, setOver] = useState(false);
  const drag = (isOver) => (event) => {
    event.preventDefault();
    setOver(isOver);
  };
  async function drop(event) {
    drag(false)(event);
    onFiles(await dropped(event.dataTransfer));
  }
  return html`<fieldset class=${over ? "dropzone over" : "dropzone"} onDragOver=${drag(true)}
    onDragLeave=${drag(false)} onDrop=${drop}>
    <legend>${t("files")}</legend>
    <p>${t("dropHere")}</p>
    <div class="pair">
      <label>${t("chooseFiles")} <input type="file" multiple id="files"
        aria-invalid=${wrong ? "true" : null} aria-describedby=${wrong ? "files-wrong" : null}
        onChange=${(event) => onFiles(chosen(event.target))} /></label>
      <label>${t("chooseFolder")} <input type="file" webkitdirectory
        onChange=${(event) => onFiles(chosen(event.target))} /></label>
    </div>
    ${wrong && html`<small id="files-wrong" class="wrong">${wrong}</small>`}
  </fieldset>`;
}

function Chosen({ files: { files, leftOut } }) {
  const t = useTexts(texts);
  const format = useFormats();
  if (!files.length && !leftOut) return null;
  const bytes = files.reduce((sum, [, file]) => sum + file.size, 0);
  const [unit, divisor] = bytes < 1e6 ? ["kB", 1e3] : ["MB", 1e6];
  const size = `${format.number(bytes / divisor, 1)} ${unit}`;
  return html`<p>${t("filesTaken", { n: files.length })} (${size}).
      ${leftOut > 0 && ` ${t("leftOut", { n: leftOut })}`}</p>
    <ul class="files">${files.slice(0, SHOWN).map(([path]) => html`<li><code>${path}</code></li>`)}
      ${files.length > SHOWN && html`<li>+${files.length - SHOWN}</li>`}</ul>`;
}

function Sending({ share, onCancel }) {
  const t = useTexts(texts);
  const format = useFormats();
  return html`<p class="run"><progress aria-label=${t("sending")} value=${share} max="1"></progress>
    ${" "}${share < 1 ? format.percent(share) : t("storing")}
    ${" "}<button type="button" class="button" onClick=${onCancel}>${t("cancel")}</button></p>`;
}
