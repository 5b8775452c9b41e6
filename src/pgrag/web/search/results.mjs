// The answers of a search: at once while the reader types, whole when they pause.

import { get, send, useLoaded } from "../core/api.mjs";
import { useRef, useState } from "../core/html.mjs";
import { FIRST_PAGES, PAGES } from "./arguments.mjs";

/** How long the reader must not type before the whole answer is asked for, in milliseconds. */
const PAUSE = 250;

async function search(args, signal) {
  const answer = await send("GET", "v1/search", { params: { ...args, snippets: true }, signal });
  const { pages, ...told } = await answer.json();
  const took = /dur=([\d.]+)/.exec(answer.headers.get("Server-Timing") ?? "");
  return { ...told, groups: pages, took: took && Number(took[1]) };
}

const FULL = { explain: true, history: true };

/**
 * The whole answer to `args`, with at least `count` pages if there are as many: `useLoaded` of
 * `{key, groups, next, …}`. If only the count grows, what follows is asked for; a failure of that
 * is the answer's `moreProblem`, and what was shown stays.
 */
export function useResults(args, count, inputs) {
  const held = useRef(null);
  const key = JSON.stringify([args, ...inputs]);
  return useLoaded(async (signal) => {
    if (!args) return null;
    const before = held.current?.key === key ? held.current : null;
    if (!before) {
      const answer = await search({ ...args, ...FULL, top_k: Math.max(count, PAGES) }, signal);
      return (held.current = { ...answer, key });
    }
    if (!before.next || before.groups.length >= count) return before;
    try {
      const top_k = count - before.groups.length;
      const more = await search({ ...args, ...FULL, top_k, after: before.next }, signal);
      const groups = [...before.groups, ...more.groups];
      return (held.current = { ...before, next: more.next, groups });
    } catch (moreProblem) {
      return { ...before, moreProblem };
    }
  }, [key, count]);
}

/** The counts of a search by its arguments; what a search alone understands is left out. */
export function useFacets(args, inputs) {
  return useLoaded((signal) => {
    if (!args) return null;
    const { group, mode, ...counted } = args;
    // Counts know no mode: a retriever that is not wanted has no share.
    const alpha = { keyword: 0, semantic: 1 }[mode];
    return get("v1/facets", { ...counted, alpha }, signal);
  }, [JSON.stringify([args, ...inputs])]);
}

/**
 * Answers while the reader types: `type(words)` searches at once, unless a search is on its way,
 * which newer words wait for; `onPause(words)` is called when no word has followed, and whatever is
 * still on its way is then given up. `found` is the latest answer, `{words, answer, started}`; it
 * never follows one to later words. `forget()` drops it, `clear()` also what is on its way.
 */
export function useTyping(argumentsFor, onPause) {
  const [found, show] = useState(null);
  const own = useRef({ abort: null, waiting: null, timer: 0 }).current;

  async function next() {
    const wanted = own.waiting;
    const args = wanted && argumentsFor(wanted.words);
    own.waiting = null;
    if (!args) return;
    const abort = (own.abort = new AbortController());
    try {
      const quick = { ...args, top_k: FIRST_PAGES, record: false };
      const answer = await search(quick, abort.signal);
      if (!abort.signal.aborted) show({ ...wanted, answer });
    } catch {
      // The whole search, which follows, says what is wrong.
    }
    if (own.abort === abort) {
      own.abort = null;
      next();
    }
  }

  function stop() {
    clearTimeout(own.timer);
    own.abort?.abort();
    own.abort = own.waiting = null;
  }

  return {
    found,
    stop,
    /** `pausesOnly`: the words are still being composed; only a pause searches for them. */
    type(words, started, pausesOnly = false) {
      clearTimeout(own.timer);
      own.timer = setTimeout(() => {
        stop();
        onPause(words);
      }, PAUSE);
      if (pausesOnly) return;
      own.waiting = { words, started };
      if (!own.abort) next();
    },
    forget: () => show(null),
    clear() {
      stop();
      show(null);
    },
  };
}
