// When the search box asks, and which answer counts: that to what the reader has written now.

import { Problem } from "./service.mjs";

const PAUSE = 80; // ms without a letter before a request that takes another one's place
const COMPOSING = 250; // ms without a change while an input method composes a word
const SETTLED = 1000; // ms without a letter until the words are what the reader wants to know
const PATIENCE = 10; // s that a request waits by itself if too many search

export class Searching {
  #generation = 0;
  #abort = null;
  #timers = [];
  #record = null;

  /** `show({query, found, suggestions, problem, isLoading})`, of the latest query only. */
  constructor(service, show) {
    this.service = service;
    this.show = show;
  }

  /** Ask for words in a version; at once if nothing is under way. */
  ask(query, version, { isComposing = false } = {}) {
    this.stop();
    if (!query.trim()) return this.show({ query: "" });
    const pause = isComposing ? COMPOSING : this.#abort ? PAUSE : 0;
    this.#later(pause, () => this.#send(query, version));
  }

  /** Forget what is under way: its answer will not show. */
  stop() {
    this.#generation += 1;
    this.#abort?.abort();
    this.#timers.forEach(clearTimeout);
    this.#timers = [];
    this.#record = null;
  }

  /** The id under which the service keeps this search, which it does once; null without one. */
  async recorded() {
    const id = await this.#record?.();
    return id ?? null;
  }

  async #send(query, version) {
    const generation = this.#generation;
    const abort = (this.#abort = new AbortController());
    const isLatest = () => generation === this.#generation;
    this.#later(300, () => this.show({ isLoading: true }));
    try {
      const found = await this.service.search(query, version, {
        isTyping: true, signal: abort.signal,
      });
      if (!isLatest()) return;
      const suggestions = !found.pages.length || found.no_good_match
        ? await this.service.suggestions(query, version, abort.signal).catch(() => [])
        : [];
      if (!isLatest()) return;
      this.stop();
      let asked = null;
      this.#record = () => {
        asked ??= this.service.search(query, version, { isTyping: false })
          .then((again) => again.search_id, () => null);
        return asked;
      };
      this.#later(SETTLED, () => this.recorded());
      this.show({ query, found, suggestions });
    } catch (problem) {
      if (problem.name === "AbortError" || !isLatest()) return;
      if (!(problem instanceof Problem)) console.error("pgrag-search:", problem);
      this.stop();
      this.show({ query, problem });
      if ((problem.status === 429 || problem.status === 503) && problem.wait <= PATIENCE) {
        this.#later(1000 * problem.wait, () => this.#send(query, version));
      }
    } finally {
      if (this.#abort === abort) this.#abort = null;
    }
  }

  #later(pause, work) {
    this.#timers.push(setTimeout(work, pause));
  }
}
