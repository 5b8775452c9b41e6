// What is around a passage: sections of its page, pages above and below, links, related pages.

import { html, useState } from "../core/html.mjs";
import { get, useLoaded } from "../core/api.mjs";
import { Link } from "../core/address.mjs";
import { Inline } from "../core/parts.mjs";
import { useTexts } from "../core/texts.mjs";
import { Inside, Loading, outside, Panel } from "./parts.mjs";
import { texts } from "./texts.mjs";

/** Links of each kind that are shown. */
const LINKS = 50;

export function Neighbours({ place, params }) {
  const t = useTexts(texts);
  const [tries, setTries] = useState(0);
  const page = encodeURIComponent(place.page);
  const around = useLoaded((signal) => sections(place, page, signal), [place, tries]);
  return html`<${Panel} label=${t("neighbours")}>
    <${Loading} state=${around} params=${params} onRetry=${() => setTries(tries + 1)}>
      ${(found) => html`<${Sections} found=${found} params=${params} />
        <${Pages} root=${found.root} params=${params} />`}
    <//>
    <${Block} title=${t("backlinks")} path=${`v1/pages/${page}/backlinks`} query=${{ top_k: LINKS }}
      rows=${(told) => told.backlinks} params=${params}
      row=${(each) => html`<${Inside} params=${params} page=${each.source_page_id}
        document=${each.document_id}>${each.title}<//><${Said} text=${each.sentence} />`} />
    <${Block} title=${t("links")} path=${`v1/pages/${page}/edges`}
      query=${{ direction: "out", top_k: LINKS }} rows=${(told) => told.edges} params=${params}
      row=${(each) => html`<${Target} edge=${each} params=${params} />`} />
    <${Block} title=${t("related")} path=${`v1/pages/${page}/related`} rows=${(told) => told.related}
      params=${params} row=${(each) => html`<${Inside} params=${params} page=${each.page_id}>
        ${each.title}<//><${Said} text=${each.reason} />`} />
    <p><${Link} view="libraries" params=${{ graph: place.page }}>${t("graph")}<//></p>
  <//>`;
}

/** The section of the passage in the outline of its page, and those around it. */
async function sections(place, page, signal) {
  const [{ outline }, passage] = await Promise.all([
    get(`v1/pages/${page}/outline`, {}, signal),
    place.document && get(`v1/documents/${encodeURIComponent(place.document)}`, {}, signal),
  ]);
  const is_read = (each) =>
    passage ? each.sort_order <= passage.sort_order : each.anchor === (place.at ?? "");
  const number = outline.findLastIndex(is_read);
  const own = outline[Math.max(number, 0)];
  const below = (parent) => outline.filter((each) => each.parent_id === parent);
  return {
    root: outline[0],
    own,
    previous: outline.slice(number - 1, Math.max(number, 0)),
    next: outline.slice(Math.max(number, 0) + 1).slice(0, 1),
    parent: outline.filter((each) => each.document_id === own.parent_id),
    children: below(own.document_id),
    siblings: own.parent_id === null
      ? [] : below(own.parent_id).filter((each) => each.document_id !== own.document_id),
    page,
  };
}

function Sections({ found, params }) {
  const t = useTexts(texts);
  const kinds = ["previous", "next", "parent", "children", "siblings"];
  const some = kinds.filter((kind) => found[kind].length);
  return html`<h2>${t("onThisPage")}</h2>
    ${!some.length && html`<p class="soft">${t("noSections")}</p>`}
    <dl class="around">${some.map((kind) => html`<div key=${kind}><dt>${t(`section_${kind}`)}</dt>
      ${found[kind].map((each) => html`<dd key=${each.document_id}><${Inside} params=${params}
        page=${decodeURIComponent(found.page)} anchor=${each.anchor}
        document=${each.anchor ? null : each.document_id}><${Inline} text=${each.heading} /><//></dd>`)}
    </div>`)}</dl>`;
}

/** The page above in the documentation, and the pages below. */
function Pages({ root, params }) {
  const t = useTexts(texts);
  const load = async (signal) => {
    const path = `v1/documents/${root.document_id}`;
    const [{ parent }, { children }] = await Promise.all([
      get(`${path}/parent`, {}, signal), get(`${path}/children`, {}, signal),
    ]);
    return { above: parent ? [parent] : [], below: children.filter((each) => each.level === 0) };
  };
  const state = useLoaded(load, [root.document_id]);
  return html`<${Loading} state=${state} params=${params}>${({ above, below }) =>
    [["pageAbove", above], ["pagesBelow", below]].map(([name, pages]) => pages.length > 0 && html`
      <h2 key=${name}>${t(name)}</h2><ul>${pages.map((each) => html`<li key=${each.document_id}>
        <${Inside} params=${params} page=${each.page_id}>${each.title}<//></li>`)}</ul>`)}<//>`;
}

/** A list that loads, and fails, by itself. */
function Block({ title, path, query = {}, rows, row, params }) {
  const t = useTexts(texts);
  const [tries, setTries] = useState(0);
  const state = useLoaded((signal) => get(path, query, signal), [path, tries]);
  return html`<h2>${title}</h2>
    <${Loading} state=${state} params=${params} onRetry=${() => setTries(tries + 1)}>${(told) =>
      rows(told).length
        ? html`<ul>${rows(told).map((each, n) => html`<li key=${n}>${row(each)}</li>`)}</ul>`
        : html`<p class="soft">${t("none")}</p>`}<//>`;
}

const Said = ({ text }) => text && html`<div class="soft said-there">${text}</div>`;

/** Where a link of this page leads: to a page here, into the world, or nowhere. */
function Target({ edge, params }) {
  const t = useTexts(texts);
  if (edge.target_page_id) {
    return html`<${Inside} params=${params} page=${edge.target_page_id} anchor=${edge.fragment}>
      ${edge.target_title}<//><${Said} text=${edge.sentence} />`;
  }
  const address = outside(edge.target);
  return address
    ? html`<a href=${address} rel="noopener noreferrer">${edge.link_text || edge.target}</a>`
    : html`${edge.link_text || edge.target} <span class="badge">${t("leadsNowhere")}</span>`;
}
