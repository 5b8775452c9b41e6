// The page as it is read: its text, the passage marked, the outline, the pages before and after.

import { html, useEffect, useLayoutEffect, useRef, useState } from "../core/html.mjs";
import { get, useLoaded } from "../core/api.mjs";
import { go } from "../core/address.mjs";
import { announce, Crumbs, Inline } from "../core/parts.mjs";
import { Rendered } from "../core/rendered.mjs";
import { useTexts } from "../core/texts.mjs";
import { follow, onScroll, prepare, reveal } from "./article.mjs";
import { at, Inside, isGone, Loading, outside, Panel } from "./parts.mjs";
import { texts } from "./texts.mjs";

/**
 * The page at a place, which it then has as `place`. If the passage is no longer there, the page
 * without it, which `is_changed` then says.
 */
async function load(place, { q, prefix }, signal) {
  const path = `v1/pages/${encodeURIComponent(place.page)}/rendered`;
  const asked = { q, prefix: q && prefix, line: place.line };
  try {
    return { ...(await get(path, { ...asked, document_id: place.document }, signal)), place };
  } catch (problem) {
    if (place.document === null || !isGone(problem)) throw problem;
    return { ...(await get(path, asked, signal)), place, is_changed: true };
  }
}

export function Page({ place, request, params }) {
  const t = useTexts(texts);
  const [tries, setTries] = useState(0);
  const { q, prefix } = request ?? {};
  const inputs = [place.page, place.document, place.line, q, prefix, tries];
  const state = useLoaded((signal) => load(place, { q, prefix }, signal), inputs);
  const panel = useRef();
  // The page before stays until this one is there; a page that loads is no place to read on.
  const is_late = useLate(state.loading);
  return html`<${Panel} label=${t("page")} aria-busy=${String(state.loading)}>
    <div ref=${panel} class=${state.value && is_late ? "reader-old" : null}>
      ${is_late && state.value && html`<p class="soft reader-wait">${t("loading")}</p>`}
      <${Loading} state=${state} params=${params} onRetry=${() => setTries(tries + 1)}>
        ${(page) => html`<${Article} page=${page} place=${place} params=${params} />`}
      <//>
    </div>
  <//>`;
}

/** Whether something has lasted longer than what the eye takes for at once. */
function useLate(lasts) {
  const [is_late, set] = useState(false);
  useEffect(() => {
    if (!lasts) return void set(false);
    const timer = setTimeout(() => set(true), 400);
    return () => clearTimeout(timer);
  }, [lasts]);
  return is_late;
}

function Article({ page, place, params }) {
  const t = useTexts(texts);
  const article = useRef();
  const [section, setSection] = useState(null);
  const is_here = page.place.page === place.page;
  useLayoutEffect(() => {
    if (is_here) setSection(reveal(article.current, place.at));
  }, [page, place.at, is_here]);
  useEffect(() => onScroll(article.current, setSection), []);
  useEffect(() => {
    // What is read without having been chosen, the best hit, is not to drown how many there are.
    if (params.hit || params.page) announce(t("shown", { title: page.title }));
  }, [page.page_id]);
  const turn = (event) => follow(event, {
    onPage: (id, anchor) => go("search", at(params, id, null, anchor)),
    onAnchor: (anchor) => setSection(reveal(article.current, anchor, { focuses: true })),
  });
  const original = outside(page.link) ?? outside(page.url);
  const part = (line, name) => html`<${Inside} params=${params} page=${place.page} line=${line}>
    ${t(name)}<//>`;
  return html`
    <${Crumbs} path=${page.path.slice(0, -1)} />
    <${Outline} page=${page} section=${section} onChoose=${(anchor) =>
      setSection(reveal(article.current, anchor, { focuses: true }))} />
    <${Notes} page=${page} />
    ${page.line_start > page.first_line && html`<p>${part(1, "beginning")}</p>`}
    <article class="read" lang=${/^[a-z]{2,3}(-|$)/.test(page.language) ? page.language : null}
      dir="auto" ref=${article} onClick=${turn}>
      ${!/^\s*<h1[ >]/.test(page.html) && html`<h1>${page.title}</h1>`}
      <${Rendered} source=${page.html} onShown=${(element) => prepare(element, params)} />
    </article>
    ${page.next_line && html`<p>${part(page.next_line, "goesOn")}</p>`}
    <footer class="reader-ends">
      ${page.previous && html`<${Inside} params=${params} page=${page.previous.page_id} rel="prev">
        ← <span class="unseen">${t("previousPage")}: </span>${page.previous.title}<//>`}
      ${original && html`<a href=${original} rel="noopener noreferrer">${t("original")}</a>`}
      ${page.next && html`<${Inside} params=${params} page=${page.next.page_id} rel="next">
        <span class="unseen">${t("nextPage")}: </span>${page.next.title} →<//>`}
    </footer>`;
}

/** What is not as the reader might think: no passage is marked, or only a part is shown. */
function Notes({ page }) {
  const t = useTexts(texts);
  const is_part = page.line_start > page.first_line || page.next_line;
  const notes = [
    page.is_changed && "passageGone", page.passage?.marked === "nothing" && "unmarked",
    is_part && "isPart",
  ];
  return notes.filter(Boolean).map((name) => html`
    <p class="soft reader-note" key=${name}>${t(name)}</p>`);
}

/** The headings of the page. They are read when the outline is opened for the first time. */
function Outline({ page, section, onChoose }) {
  const t = useTexts(texts);
  const [is_open, setOpen] = useState(false);
  const { value } = useLoaded(
    (signal) => (is_open ? get(`v1/pages/${page.page_id}/outline`, {}, signal) : null),
    [page.page_id, is_open],
  );
  const is_known = value?.page_id === page.page_id;
  const entries = is_known ? value.outline.filter((each) => each.anchor) : null;
  const toggled = (event) => setOpen(event.currentTarget.open);
  const choose = (anchor) => (setOpen(false), onChoose(anchor));
  return html`<details class="outline" open=${is_open} onToggle=${toggled}>
    <summary>${t("outline")}
      ${section && html` · <span class="soft">${section.text}</span>`}</summary>
    ${entries && (entries.length
      ? html`<ol>${entries.map((each) => html`<li key=${each.document_id}
          class=${`depth-${Math.min(each.depth, 5)}`}><button class="plain" type="button"
          aria-current=${each.anchor === section?.anchor ? "true" : null}
          onClick=${() => choose(each.anchor)}><${Inline} text=${each.heading} /></button>
        </li>`)}</ol>`
      : html`<p class="soft">${t("noHeadings")}</p>`)}
  </details>`;
}
