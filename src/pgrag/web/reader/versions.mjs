// A section through the versions of its library, and its page in them.

import { html, useState } from "../core/html.mjs";
import { get, useLoaded } from "../core/api.mjs";
import { useTexts } from "../core/texts.mjs";
import { Inside, Loading, Panel } from "./parts.mjs";
import { texts } from "./texts.mjs";

/** Changed lines up to which a diff is open at once. */
const SHORT = 40;

export function Versions({ place, params }) {
  const t = useTexts(texts);
  const [tries, setTries] = useState(0);
  const again = () => setTries(tries + 1);
  const history = useLoaded((signal) => load(place, signal), [place.page, place.document, tries]);
  const path = `v1/pages/${encodeURIComponent(place.page)}/versions`;
  const pages = useLoaded((signal) => get(path, {}, signal), [path, tries]);
  return html`<${Panel} label=${t("versions")}>
    <h2>${t("ofSection")}</h2>
    <${Loading} state=${history} params=${params} onRetry=${again}>
      ${({ history: all }) => html`<ol class="plain-list">
        ${[...all].reverse().map((each) => html`<li key=${each.version}>
          <${Version} version=${each} params=${params} /></li>`)}</ol>`}
    <//>
    <h2>${t("ofPage")}</h2>
    <${Loading} state=${pages} params=${params} onRetry=${again}>
      ${({ versions }) => html`<ul>${versions.map((each) => html`<li key=${each.version}>
        <${Inside} params=${params} page=${each.page_id}>${each.version || t("unversioned")}<//>
        ${String(each.page_id) === String(place.page) && html`
          <span class="badge">${t("thisOne")}</span>`}
        ${each.text_changed && html` <span class="badge">${t("differs")}</span>`}
      </li>`)}</ul>`}
    <//>
  <//>`;
}

/** The history of the passage, or of the page as a whole if no passage is read. */
async function load(place, signal) {
  let document = place.document;
  if (document === null) {
    const { outline } = await get(`v1/pages/${encodeURIComponent(place.page)}/outline`, {}, signal);
    const own = outline.find((each) => each.anchor === place.at) ?? outline[0];
    document = own.document_id;
  }
  return get(`v1/documents/${encodeURIComponent(document)}/history`, { diff: true }, signal);
}

function Version({ version, params }) {
  const t = useTexts(texts);
  const name = version.version || t("unversioned");
  const lines = version.diff ? linesOf(version.diff) : [];
  const changed = lines.filter(([sign]) => sign === "+" || sign === "-").length;
  return html`<h3>${version.page_id
      ? html`<${Inside} params=${params} page=${version.page_id}
          document=${version.document_id}>${name}<//>`
      : name} <span class="badge">${t(`change_${version.change}`)}</span></h3>
    ${version.change === "moved" && html`
      <p class="soft">${(version.section ?? []).join(" › ")}</p>`}
    ${changed > 0 && html`<details open=${changed <= SHORT}>
      <summary>${t("changedLines", { n: changed })}</summary>
      <${Diff} lines=${lines} /></details>`}`;
}

/** The lines of a unified diff with their signs, without the head that names files. */
function linesOf(diff) {
  const lines = diff.replace(/\n$/, "").split("\n");
  const begin = lines.findIndex((line) => line.startsWith("@@"));
  return lines.slice(Math.max(begin, 0)).map((line) => [line[0] ?? " ", line]);
}

/** A diff: what came and went is told by its sign and its element, not by colour alone. */
const Diff = ({ lines }) => html`<pre class="diff" tabindex="0">${lines.map(([sign, line], n) => {
  const end = n < lines.length - 1 ? "\n" : "";
  if (sign === "+") return html`<ins>${line}${end}</ins>`;
  if (sign === "-") return html`<del>${line}${end}</del>`;
  return sign === "@" ? html`<span class="soft">${line}${end}</span>` : `${line}${end}`;
})}</pre>`;
