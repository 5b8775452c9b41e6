// The state of the search: what the address says, the words that are being typed, and the answers.

import { currentAddress, go } from "../core/address.mjs";
import { get, service, useLoaded } from "../core/api.mjs";
import { useEffect, useRef, useState } from "../core/html.mjs";
import { useKeys } from "../core/keys.mjs";
import { useStore } from "../core/store.mjs";
import { argumentsOf, checked } from "./arguments.mjs";
import { folded } from "./hits.mjs";
import { useFacets, useResults, useTyping } from "./results.mjs";

const pathOf = (library) => `v1/libraries/${encodeURIComponent(library)}/versions`;

/** What the reader has open beside the list. */
const NOTHING_OPEN = { hit: "", page: "", document: "", at: "", line: "" };

/** The parameters now: since a view was drawn the address may have changed. */
const now = () => checked(currentAddress().params).right;

/** Go to the same search with other values; what was open belongs to other hits. */
export const change = (values, options) =>
  go("search", { ...now(), ...NOTHING_OPEN, count: "", ...values }, options);

/** What is there: the libraries, and the versions of the one that is searched. */
function usePlaces(params, inputs) {
  const found = useLoaded((signal) => get("v1/libraries", {}, signal), inputs);
  const libraries = found.value?.libraries ?? [];
  const library = params.library ?? (libraries.length === 1 ? libraries[0].library : undefined);
  const { value } = useLoaded(
    (signal) => (library ? get(pathOf(library), {}, signal) : null), [library, ...inputs]);
  const versions = library && value?.library === library ? value.versions : [];
  const isSettled = Boolean(params.library || found.value || found.problem);
  const { problem } = found;
  return { libraries, library, versions, isKnown: Boolean(found.value), isSettled, problem };
}

/**
 * The words in the field, and the answers to them: those of the address, or, while the reader
 * types, of what they have typed.
 */
function useWords(params, { library, isSettled }, inputs) {
  const [words, write] = useState(params.q ?? "");
  // The words that this view has put into the address itself.
  const written = useRef(params.q ?? "");
  function address(q, prefix) {
    const before = now();
    const isSettled = before.q && (!before.prefix || before.hit || before.page);
    written.current = q;
    // What was looked for before stays a step of the history; half-typed words do not.
    change({ q, prefix }, { replace: !isSettled });
  }
  const typing = useTyping(
    (q) => argumentsOf({ ...now(), q, prefix: "true" }, library),
    (q) => q.trim() && address(q, "true"),
  );
  useEffect(() => typing.stop, []);
  useEffect(() => {
    // Words from elsewhere, as by Back, replace those in the field.
    if ((params.q ?? "") === written.current) return;
    written.current = params.q ?? "";
    write(written.current);
    typing.clear();
  }, [params.q]);
  // Before it is known whether there is but one library, the whole search would run twice.
  const args = isSettled ? argumentsOf(params, library) : null;
  const full = useResults(args, Number(params.count ?? 0), inputs);
  useEffect(() => {
    // The whole answer to the words is there: what came of them before is of no use.
    if (full.value && !full.loading && words === params.q) typing.forget();
  }, [full.value, full.loading]);
  const isTyped = Boolean(typing.found && (words !== (params.q ?? "") || full.loading));
  return {
    words, args, full, isTyped, found: typing.found,
    answer: isTyped ? typing.found.answer : args && full.value,
    /** `while`: "pauses" or "nothing" of the words is searched, since they are being composed. */
    type(next, started, only) {
      write(next);
      if (!next.trim()) return void (typing.clear(), address("", ""));
      if (only === "nothing") return typing.stop();
      return typing.type(next, started, only === "pauses");
    },
    enter() {
      typing.stop();
      if (words.trim()) address(words.trim(), "");
    },
    clear: () => (write(""), typing.clear(), address("", "")),
    /** The words as they are, for an address with other values. */
    keep() {
      typing.stop();
      written.current = words;
      return { q: words, prefix: words === (params.q ?? "") ? params.prefix : "true" };
    },
  };
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

/** All that the view shows, and what its parts do. */
export function useSearch(given) {
  const { right: params, wrong } = checked(given);
  const [attempt, retry] = useState(0);
  const inputs = [useStore(service)?.caller?.name ?? "", attempt];
  const places = usePlaces(params, inputs);
  const { library } = places;
  const typed = useWords(params, places, inputs);
  const { args, answer, isTyped } = typed;
  const all = library && !args ? { library, version: params.version } : null;
  const counts = useFacets(args ?? all, inputs);
  const isWide = useIsWide();
  const { shown, weak } = answer?.groups.length ? folded(answer, params) : { shown: [], weak: 0 };
  const hits = shown.flatMap((group) => group.hits);
  const named = hits.find((hit) => String(hit.document_id) === params.hit);
  const isFull = Boolean(answer && !isTyped);
  // Where there is room, the best hit is read without being asked for.
  const best = isWide && isFull && !answer.no_good_match ? hits[0] : null;
  const opened = named ?? (params.page ? null : best ?? null);
  // While the reader types, what they read stays.
  const before = useRef(null);
  useEffect(() => {
    if (isFull && !typed.full.loading) before.current = opened;
  });
  const isKept = !opened && !params.page && isWide && (isTyped || typed.full.loading);
  return {
    params, wrong, places, counts, isWide, shown, weak, hits, isFull, ...typed,
    opened: isKept ? before.current : opened,
    isOpen: Boolean(named || params.page),
    isLost: Boolean(params.hit && !named && isFull && !typed.full.loading),
    retry: () => retry(attempt + 1),
  };
}

/** The hit that the keys have reached, and the keys themselves. */
export function useChoice({ hits, params, isWide, keep }, field) {
  const [active, activate] = useState(null);
  const [isFocused, focus] = useState(false);
  // If the hit is not among those of newer words, the one in its place is meant.
  const marked = active && (hits.find((hit) => hit.document_id === active.id)
    ?? hits.at(Math.min(active.at, hits.length - 1)) ?? null);
  const mark = (hit) => activate({ id: hit.document_id, at: hits.indexOf(hit) });
  function open(hit) {
    focus(true);
    mark(hit);
    const { document_id } = hit;
    change({ ...keep(), count: params.count, hit: document_id });
  }
  function back() {
    focus(false);
    if (!isWide && (params.hit || params.page)) change({ count: params.count });
    field.current.focus({ preventScroll: true });
  }
  function key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && hits.length) {
      const before = marked ? hits.indexOf(marked) : step > 0 ? -1 : 0;
      mark(hits.at((before + step) % hits.length));
    } else if (event.key === "Enter" && marked) open(marked);
    else if (event.key === "Escape" && marked) activate(null);
    else return;
    event.preventDefault();
  }
  function arrow(event) {
    // Elsewhere, as in the reader, arrows scroll.
    const isOfList = event.target === document.body || event.target.closest(".list") !== null;
    return isOfList && hits.length > 0 && key(event);
  }
  useKeys({ ArrowDown: arrow, ArrowUp: arrow, Escape: back });
  return { marked, isFocused, open, back, key, forget: () => (activate(null), focus(false)) };
}
