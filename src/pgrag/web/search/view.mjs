// The search: field, scope, counts, hits, and the reader beside them.

import { go, href } from "../core/address.mjs";
import { get, service, useLoaded } from "../core/api.mjs";
import { html, useEffect, useLayoutEffect, useRef, useState } from "../core/html.mjs";
import { useKeys } from "../core/keys.mjs";
import { Failure, announce } from "../core/parts.mjs";
import { useStore } from "../core/store.mjs";
import { useTexts } from "../core/texts.mjs";
import { argumentsOf, checked, isNarrowed, widened } from "./arguments.mjs";
import { Box } from "./box.mjs";
import { Facets, useFacets } from "./facets.mjs";
import { Hits, folded } from "./hits.mjs";
import { Preview } from "./preview.mjs";
import { useResults, useTyping } from "./results.mjs";
import { Resolved, Scope, Totals } from "./scope.mjs";
import { Start, WaysOut } from "./start.mjs";
import { texts } from "./texts.mjs";

const pathOf = (library) => `v1/libraries/${encodeURIComponent(library)}/versions`;

/** What is there: the libraries, and the versions of the one that is searched. */
function usePlaces(params, inputs) {
  const found = useLoaded((signal) => get("v1/libraries", {}, signal), inputs);
  const libraries = found.value?.libraries ?? [];
  const library = params.library ?? (libraries.length === 1 ? libraries[0].library : undefined);
  const { value } = useLoaded(
    (signal) => (library ? get(pathOf(library), {}, signal) : null), [library, ...inputs]);
  const versions = library && value?.library === library ? value.versions : [];
  return { libraries, library, versions, isKnown: Boolean(found.value), problem: found.problem };
}

function useIsWide() {
  const [query] = useState(() => matchMedia("(min-width: 1100px)"));
  const [is, set] = useState(query.matches);
  useEffect(() => {
    const changed = () => set(query.matches);
    query.addEventListener("change", changed);
    return () => query.removeEventListener("change", changed);
  }, []);
  return is;
}

export function View({ params: given }) {
  const t = useTexts(texts);
  const { right: params, wrong } = checked(given);
  const [attempt, retry] = useState(0);
  const inputs = [useStore(service)?.caller?.name ?? "", attempt];
  const places = usePlaces(params, inputs);
  const { library, versions } = places;
  const [words, write] = useState(params.q ?? "");
  const [active, activate] = useState(null);
  const [isFocused, focus] = useState(false);
  const field = useRef();
  // The words that this view has put into the address itself.
  const written = useRef(params.q ?? "");
  const isWide = useIsWide();

  const change = (values, options) => go("search", { ...given, hit: "", count: "", ...values }, options);
  const wordsInAddress = (q, prefix, options) => {
    written.current = q;
    change({ q, prefix, page: "", document: "" }, options);
  };
  const typing = useTyping(
    (q) => argumentsOf({ ...params, q, prefix: "true" }, library),
    (q) => q.trim() && wordsInAddress(q, "true", { replace: Boolean(written.current) }),
  );
  const args = argumentsOf(params, library);
  const full = useResults(args, Number(params.count ?? 0), inputs);
  const facets = useFacets(args, library && !args ? { library, version: params.version } : null, inputs);

  // Words that come from elsewhere, as by Back, replace those in the field.
  useEffect(() => {
    if ((params.q ?? "") === written.current) return;
    written.current = params.q ?? "";
    write(written.current);
    typing.clear();
  }, [params.q]);

  const isTyped = typing.found && (words !== (params.q ?? "") || full.loading);
  const answer = isTyped ? typing.found.answer : args && full.value;
  const { shown, weak } = answer?.groups.length ? folded(answer, params) : { shown: [], weak: 0 };
  const hits = shown.flatMap((group) => group.hits);
  const named = params.hit && hits.find((hit) => String(hit.document_id) === params.hit);
  const isStarted = !args && !isTyped;
  const first = isWide && !isTyped && !isStarted && !answer?.no_good_match ? hits[0] : null;
  const opened = params.page ? named || null : named || first;
  const isOpen = Boolean(named || params.page);
  const marked = hits.find((hit) => hit.document_id === active) ?? null;
  useMeasured(typing.found, answer, isTyped);
  useTold(full, t);

  function open(hit) {
    focus(true);
    activate(hit.document_id);
    typing.stop();
    written.current = words;
    go("search", { ...given, q: words, hit: hit.document_id, page: "", document: "" });
  }
  function back() {
    focus(false);
    if (!isWide || params.page) change({ count: params.count, page: "", document: "" });
    field.current.focus({ preventScroll: true });
  }
  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      const at = marked ? hits.indexOf(marked) + step : step > 0 ? 0 : -1;
      activate(hits.at(at % hits.length).document_id);
    } else if (event.key === "Enter" && marked) open(marked);
    else if (event.key === "Escape" && marked) activate(null);
    else return;
    event.preventDefault();
  }
  useKeys({ ArrowDown: key, ArrowUp: key, Escape: back, ...(marked && { Enter: key }) });
  function type(next, started, held) {
    write(next);
    activate(null);
    focus(false);
    if (held === "nothing") return typing.stop();
    if (next.trim()) return typing.type(next, started, held === "pauses");
    typing.clear();
    return wordsInAddress("", "", { replace: true });
  }
  function enter() {
    typing.stop();
    if (words.trim()) wordsInAddress(words.trim(), "");
  }
  const clear = () => {
    write("");
    typing.clear();
    wordsInAddress("", "");
  };
  const resolved = library && params.version !== "*" ? answer?.resolved?.[0] : null;
  const problem = full.problem ?? (isStarted ? places.problem : null);
  return html`<main id="content" class=${`search ${isOpen ? "opened" : ""}`}>
    <h1 class="unseen">${t("search")}</h1>
    <div class="box">
      <${Box} words=${words} active=${marked} isExpanded=${hits.length > 0} isBusy=${full.loading && args}
        field=${field} onType=${type} onEnter=${enter} onClear=${clear} onKey=${key} />
      <${Scope} params=${params} change=${change} ...${places} resolved=${resolved}>
        ${!isTyped && args && answer && html`<${Totals} counts=${facets.value} answer=${answer} />`}<//>
    </div>
    <div class="desk">
      <${Facets} counts=${facets.value} problem=${facets.problem} params=${params} change=${change}
        library=${library} versions=${versions} onWiden=${() => go("search", widened(given))} />
      <section class="list" aria-label=${t("hits")} aria-busy=${String(full.loading)}>
        ${wrong.map(([name, value]) => html`<p class="note">${t("wrongValue", { name, value })}</p>`)}
        ${params.hit && !named && !full.loading && answer && html`<p class="note">${t("hitGone")}</p>`}
        ${problem && !isTyped && html`<${Failure} problem=${problem} onRetry=${() => retry(attempt + 1)} />`}
        ${problem && !isTyped && (params.library || isNarrowed(params)) && html`<p class="note">
          <a href=${href("search", { q: params.q })}>${t("tryLibraries")}</a></p>`}
        ${isStarted && places.isKnown && html`<${Start} params=${params} libraries=${places.libraries} />`}
        ${answer && html`<${Resolved} answer=${answer} params=${params} versions=${versions} library=${library} />`}
        ${answer && !isTyped && (answer.no_good_match || !hits.length) && html`
          <${WaysOut} params=${params} answer=${answer} library=${library} />`}
        ${answer && hits.length > 0 && html`<${Hits} answer=${answer} shown=${shown} weak=${weak}
          active=${marked} opened=${opened} params=${params} library=${library} versions=${versions}
          onOpen=${open} onCount=${(count) => go("search", { ...given, count }, { replace: true })}
          onRetry=${() => retry(attempt + 1)} onKey=${key} />`}
      </section>
      ${opened || params.page ? html`<${Preview} hit=${opened} request=${args} params=${params}
        isFocused=${isFocused} onBack=${back} />` : html`<section class="preview"></section>`}
    </div>
  </main>`;
}

/** Measures for those who ask how fast it is: from a key to its hits, and to a field that works. */
function useMeasured(found, answer, isTyped) {
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
