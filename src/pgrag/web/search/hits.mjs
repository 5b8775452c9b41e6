// The hits, by page: the best of each whole, the others below it; weak ones folded.

import { go, href } from "../core/address.mjs";
import { html, useEffect, useRef } from "../core/html.mjs";
import { Bar, Crumbs, Failure, Inline, Marked } from "../core/parts.mjs";
import { useFormats, useTexts } from "../core/texts.mjs";
import { PAGES } from "./arguments.mjs";
import { texts } from "./texts.mjs";

/** Hits with less of the best score than this are weak; if all are, all but the nearest. */
const WEAK = 0.5;
const NEAREST = 3;
const PARTS = ["words", "meaning", "page", "links"];

export const idOf = (hit) => `hit-${hit.document_id}`;

/** The groups that are shown, and the number of those that are folded away as weak. */
export function folded(answer, { count, hit }) {
  const { groups } = answer;
  const least = WEAK * (groups[0]?.score ?? 0);
  const strong = answer.no_good_match ? Math.min(NEAREST, groups.length)
    : groups.filter((group) => group.score >= least).length;
  const isOpened = groups.slice(strong).some((group) =>
    group.hits.some(({ document_id }) => String(document_id) === hit));
  if (count || isOpened || strong === groups.length) return { shown: groups, weak: 0 };
  return { shown: groups.slice(0, strong), weak: groups.length - strong };
}

/** The list; `choice` has the hit that the keys have reached, and what they do. */
export function Hits({ search, choice }) {
  const t = useTexts(texts);
  const { answer, shown, weak, opened, params, places, isFull } = search;
  const { marked, open, key } = choice;
  const count = answer.groups.length;
  const rest = { n: weak, or: answer.next ? "+" : "" };
  // More of the list is no step of the history.
  const show = (n) => go("search", { ...params, count: n }, { replace: true });
  return html`
    <div id="hits" role="listbox" aria-label=${t("hits")} tabindex="0" onKeyDown=${key}
      aria-activedescendant=${marked ? idOf(marked) : null}>
      ${shown.map((group) => html`<div role="group" class="group" key=${group.page_id}
        aria-label=${group.title}>
        ${group.hits.map((hit, n) => html`<${Hit} key=${hit.document_id} hit=${hit}
          isFirst=${n === 0} isActive=${hit === marked}
          isOpened=${hit.document_id === opened?.document_id}
          places=${places} params=${params} onOpen=${open} />`)}
      </div>`)}
    </div>
    ${answer.moreProblem && html`<${Failure} problem=${answer.moreProblem}
      onRetry=${search.retry} />`}
    ${isFull && weak > 0 && html`<p class="weak">
      ${t(answer.no_good_match ? "noBetter" : "weak", rest)} ·${" "}
      <button type="button" class="plain" onClick=${() => show(count)}>${t("show")}</button></p>`}
    ${isFull && !weak && answer.next && html`<p class="weak"><button type="button" class="button"
      onClick=${() => show(count + PAGES)}>${t("morePages")}</button></p>`}`;
}

function Hit({ hit, isFirst, isActive, isOpened, places, params, onOpen }) {
  const element = useRef();
  useEffect(() => {
    if (isActive || isOpened) element.current.scrollIntoView({ block: "nearest" });
  }, [isActive, isOpened]);
  const { library, versions } = places;
  const isOne = library && params.version !== "*";
  const heading = hit.heading || hit.path.at(-1) || hit.title;
  const place = isOne ? [] : [hit.library, hit.version].filter(Boolean);
  const crumbs = [...place, ...above(hit, heading)];
  function press(event) {
    if (event.ctrlKey || event.metaKey || event.button === 1) {
      const address = href("search", { ...params, hit: hit.document_id, page: "", document: "" });
      return window.open(address, "_blank", "noopener");
    }
    // A text that is being marked is not to be left.
    return getSelection().isCollapsed ? onOpen(hit) : undefined;
  }
  return html`<div role="option" id=${idOf(hit)} ref=${element} onClick=${press}
    onAuxClick=${(event) => event.button === 1 && press(event)}
    aria-selected=${String(isActive)} aria-current=${isOpened ? "true" : null}
    class=${isFirst ? "hit" : "hit further"} dir="auto">
    ${isFirst && crumbs.length > 0 && html`<${Crumbs} path=${crumbs} />`}
    <div class="heading"><${Inline} text=${heading} /></div>
    <p><${Excerpt} text=${hit.snippet ?? hit.content} /></p>
    <${Foot} hit=${hit} isFirst=${isFirst} oldest=${versions.at(-1)?.version} />
  </div>`;
}

/** The titles above a heading; the page's own only if the heading is another one. */
function above(hit, heading) {
  const path = hit.path.at(-1) === heading ? hit.path.slice(0, -1) : hit.path;
  return path.length || hit.title === heading ? path : [hit.title];
}

/** An excerpt with its marks; what is code in the text, without its signs. */
function Excerpt({ text }) {
  return html`<${Marked} text=${text.replaceAll("\n", " ").replace(/`/g, "")} />`;
}

function Foot({ hit, isFirst, oldest }) {
  const t = useTexts(texts);
  const { score } = useFormats();
  const parts = hit.explanation?.parts;
  const type = hit.explanation?.type;
  return html`<div class="foot">
    ${parts && html`<${Bar} label=${described(parts, hit.score, t, score)}
      parts=${shares(parts)} />`}
    ${hit.explanation && html`<span class="score">${score(hit.score)}</span>`}
    <${Since} hit=${hit} oldest=${oldest} />
    ${isFirst && type && html`<span class="badge">${type}</span>`}
  </div>`;
}

/** The four kinds of evidence for a hit, and what all steps after them add to it or take. */
function summed(parts) {
  const named = PARTS.map((name) => [name, parts[name] ?? 0]);
  const sum = (all) => all.reduce((total, part) => total + part, 0);
  return [...named, ["other", sum(Object.values(parts)) - sum(named.map(([, part]) => part))]];
}

/** The bar of a score: as long as the score, so what took from it shortens all kinds alike. */
function shares(parts) {
  const all = summed(parts);
  const added = all.reduce((total, [, part]) => total + Math.max(0, part), 0);
  const taken = all.reduce((total, [, part]) => total + Math.min(0, part), 0);
  const scale = added > 0 ? Math.max(0, added + taken) / added : 0;
  return all.map(([name, part]) => [name, "", Math.max(0, part) * scale]);
}

function described(parts, sum, t, score) {
  const each = summed(parts).filter(([, part]) => Math.abs(part) >= 0.005)
    .map(([name, part]) => `${t(`part_${name}`)} ${score(part)}`);
  return `${t("score")} ${score(sum)}: ${each.join(", ")}`;
}

/** Since when there is the section, unless it was there from the beginning, as far as we know. */
function Since({ hit, oldest }) {
  const t = useTexts(texts);
  const { changed_in, since } = hit;
  if (!changed_in && (!since || since === oldest)) return null;
  const name = changed_in ? "changedIn" : since === hit.version ? "newIn" : "since";
  return html`<span class="badge">${t(name, { version: changed_in ?? since })}</span>`;
}
