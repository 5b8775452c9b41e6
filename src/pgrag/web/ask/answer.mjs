// An answer in progress: what its events have told so far.

import { events, post, service } from "../core/api.mjs";
import { useEffect, useRef, useState } from "../core/html.mjs";

/** The most that the sources of an answer may measure, in tokens. */
const BUDGET = 4000;

/** Answers of this visit by their question, so that Back shows them without another request. */
const kept = new Map();
const MOST_KEPT = 20;
// What a key has paid for is not for whoever comes after it.
service.listen(() => kept.clear());

const named = ({ q, library, version }) => JSON.stringify([q, library, version]);
const NOTHING = { phase: "idle", text: "", citations: [], sources: [], notices: [] };

/**
 * The answer to the question of an address, as `{answer, ask, stop}`. `answer.phase` is idle,
 * asking, writing, done, stopped, failed, or unconfigured: there is no language model.
 *
 * An address alone asks nothing: a language model costs money and time, and whoever follows a
 * link, comes back or loads the page anew has not asked for that. `ask()` does.
 */
export function useAnswer(params) {
  const name = named(params);
  const [, draw] = useState(0);
  const running = useRef(null);
  const answer = kept.get(name) ?? NOTHING;

  function keep(next, of) {
    kept.delete(of);
    kept.set(of, next);
    if (kept.size > MOST_KEPT) kept.delete(kept.keys().next().value);
    draw((count) => count + 1);
  }

  async function ask(asked) {
    running.current?.abort.abort();
    const abort = new AbortController();
    const of = named(asked);
    running.current = { of, abort };
    let state = { ...NOTHING, phase: "asking" };
    const show = (changes) => {
      state = { ...state, ...changes };
      keep(state, of);
    };
    show({});
    const body = { question: asked.q, token_budget: BUDGET };
    for (const scope of ["library", "version"]) if (asked[scope]) body[scope] = asked[scope];
    try {
      for await (const event of events("POST", "v1/answer", { body, signal: abort.signal })) {
        const changes = told(state, event);
        if (changes) show(changes);
      }
      if (state.phase !== "done" && state.phase !== "failed") {
        show({ phase: "failed", problem: { type: "unreachable" } });
      }
    } catch (problem) {
      if (abort.signal.aborted) show({ phase: "stopped" });
      else {
        const phase = problem.type === "/problems/not-configured" ? "unconfigured" : "failed";
        show({ phase, problem: problem.type ? problem : { type: "unreachable" } });
      }
    }
  }

  const stop = () => running.current?.abort.abort();
  // Whoever leaves the view, or asks something else, does not wait for this answer.
  useEffect(() => () => running.current?.of === name && stop(), [name]);
  return { answer, ask, stop };
}

/** What an event changes. */
function told(state, { event, data }) {
  if (event === "sources") {
    const sources = [...state.sources, ...data.sources];
    const tokens = (state.tokens ?? 0) + (data.tokens ?? 0);
    return { sources, tokens, search_id: data.search_id, notices: data.notices ?? state.notices };
  }
  if (event === "token") return { phase: "writing", text: state.text + data.text };
  if (event === "citation") return { citations: [...state.citations, data] };
  if (event === "done") {
    // What it says last counts: the text without its end of blanks, and each citation checked.
    const unknown = state.citations.filter((citation) => citation.document_id === null);
    return {
      phase: "done", whole: data, text: data.text, sources: data.sources, notices: data.notices,
      citations: [...data.citations, ...unknown], search_id: data.search_id,
    };
  }
  return event === "error" ? { phase: "failed", problem: data } : null;
}

/** The sources that an answer would have, for services without a language model. */
export async function sourcesOf({ q, library, version }, signal) {
  const scope = { library: library || undefined, version: version || undefined };
  const context = await post(
    "v1/context", { query: q, ...scope, intent: "auto", token_budget: BUDGET }, signal,
  );
  const sources = context.blocks.map((block, n) => ({ ...block, number: n + 1 }));
  return { ...context, sources };
}
