// The search: field, scope, counts, hits, and the reader beside them.

import { Link, go } from "../core/address.mjs";
import { useLoaded } from "../core/api.mjs";
import { html, useEffect, useLayoutEffect, useRef } from "../core/html.mjs";
import { Failure, announce } from "../core/parts.mjs";
import { useTexts } from "../core/texts.mjs";
import { PAGES, isNarrowed, widened } from "./arguments.mjs";
import { Box } from "./box.mjs";
import { Hits } from "./hits.mjs";
import { Resolved, Scope, Totals } from "./scope.mjs";
import { Start } from "./start.mjs";
import { change, useChoice, useSearch } from "./state.mjs";
import { texts } from "./texts.mjs";

// What the first hits do not wait for.
const FACETS = async () => (await import("./facets.mjs")).Facets;
const PREVIEW = async () => (await import("./preview.mjs")).Preview;
const WAYS_OUT = async () => (await import("./ways.mjs")).WaysOut;

/** A part of the view that is loaded when it is first shown. */
function Later({ load, ...others }) {
  const { value: part, problem } = useLoaded(async () => ({ shown: await load() }), [load]);
  const t = useTexts(texts);
  if (problem) {
    return html`<${Failure} problem=${{ detail: t("partFailed"), hint: t("partHint") }}
      onRetry=${() => location.reload()} />`;
  }
  return part && html`<${part.shown} ...${others} />`;
}

export function View({ params: given }) {
  const t = useTexts(texts);
  const field = useRef();
  const search = useSearch(given);
  const choice = useChoice(search, field);
  const { params, places, counts, answer, full, hits, opened, isFull } = search;
  const { library, versions } = places;
  // Words find nothing where nothing is: the start says how to fill it.
  const isEmpty = places.isKnown && !places.libraries.length;
  const isAlone = !opened && !params.page && !search.isTyped && !full.loading;
  const read = library && params.version !== "*" ? answer?.resolved?.[0] : null;
  useMeasured(search);
  useTold(full, t);
  function type(...typed) {
    choice.forget();
    search.type(...typed);
  }
  return html`<main id="content" class=${`search ${search.isOpen ? "opened" : ""}`}>
    <h1 class="unseen">${t("search")}</h1>
    <div class="box">
      <${Box} words=${search.words} active=${choice.marked} field=${field} onType=${type}
        isExpanded=${hits.length > 0} onEnter=${search.enter} onClear=${search.clear}
        onKey=${choice.key} />
      <${Scope} params=${params} change=${change} ...${places} resolved=${read}>
        ${isFull && html`<${Totals} counts=${counts.value} answer=${answer} />`}<//>
    </div>
    <div class=${isAlone ? "desk alone" : "desk"}>
      <aside class="facets" aria-label=${t("facets")}>
        ${(counts.value || (counts.problem && !full.problem)) && html`<${Later} load=${FACETS}
          isWide=${search.isWide} counts=${counts.value} problem=${counts.problem}
          params=${params} change=${change} library=${library} versions=${versions}
          onWiden=${() => go("search", widened(params))} />`}</aside>
      <section class="list" aria-label=${t("hits")} aria-busy=${String(full.loading)}>
        <${Notes} search=${search} isEmpty=${isEmpty} />
        ${answer && html`<${Resolved} answer=${answer} params=${params} ...${places} />`}
        ${isFull && !isEmpty && (answer.no_good_match || !hits.length) && html`
          <${Later} load=${WAYS_OUT} params=${params} answer=${answer} library=${library} />`}
        ${hits.length > 0 && html`<${Hits} search=${search} choice=${choice} />`}
      </section>
      ${opened || params.page
        ? html`<${Later} load=${PREVIEW} hit=${opened} request=${shownBy(search)} params=${params}
            isFocused=${choice.isFocused} onBack=${choice.back} />`
        : html`<div class="preview"></div>`}
    </div>
  </main>`;
}

/** The one search that gives what is shown, whose hits may have come in several parts. */
const shownBy = ({ args, answer }) =>
  args && { ...args, top_k: Math.max(answer?.groups.length ?? 0, PAGES) };

/** What stands before the hits, or in their place: what the address lacks, failures, the start. */
function Notes({ search, isEmpty }) {
  const t = useTexts(texts);
  const { params, places, wrong, full, args, isTyped } = search;
  const isStart = !args && !isTyped;
  const problem = isTyped ? null : full.problem ?? (isStart ? places.problem : null);
  const isElsewhere = params.library || params.version || isNarrowed(params);
  return html`
    ${wrong.map(([name, value]) => html`<p class="note" key=${name}>
      ${t("wrongValue", { name, value })}</p>`)}
    ${search.isLost && html`<p class="note">${t("hitGone")}</p>`}
    ${problem && html`<${Failure} problem=${problem} onRetry=${search.retry} />`}
    ${problem && isElsewhere && html`<p class="note"><${Link} view="search"
      params=${{ q: params.q }}>${t("tryLibraries")}<//></p>`}
    ${(isEmpty || (isStart && places.isKnown)) && html`<${Start} params=${params}
      libraries=${places.libraries} />`}`;
}

/** Measures for those who ask how fast it is: from a key to its hits, and to a field that works. */
function useMeasured({ found, isTyped, answer }) {
  useLayoutEffect(() => {
    performance.measure("pgrag:interactive", { start: 0 });
  }, []);
  useLayoutEffect(() => {
    if (!isTyped) return;
    requestAnimationFrame(() => {
      performance.mark("hits");
      performance.measure("pgrag:key-to-hits", { start: found.started, end: "hits" });
    });
  }, [isTyped && answer]);
}

/** Tell the number of pages to those who do not see the list. */
function useTold({ value, loading }, t) {
  useEffect(() => {
    if (loading || !value) return;
    const n = value.groups.length;
    announce(n ? t(value.next ? "toldAtLeast" : "told", { n }) : t("nothingFound"));
  }, [value]);
}
