// An answer in the search box: written by the service's language model, with links to its sources.

import { answer, make, sourceList } from "./results.mjs";

export class Answering {
  #abort = null;

  constructor({ service, words, addressOf, go }) {
    Object.assign(this, { service, words, addressOf, go });
  }

  /** Forget the answer that is under way. */
  stop() {
    this.#abort?.abort();
    this.#abort = null;
  }

  /** Ask, and show in `place` what comes; resolves to the search's id. Rejects with a problem. */
  async ask(question, version, place, announce) {
    this.stop();
    const { signal } = (this.#abort = new AbortController());
    const text = make("div", { class: "answer" }, this.words.asking);
    const sources = make("div", {});
    place.replaceChildren(text, sources);
    announce(this.words.asking);
    let told = { text: "", sources: [] };
    for await (const [name, data] of this.service.ask(question, version, signal)) {
      if (signal.aborted) return null;
      if (name === "sources") told = { ...told, sources: data.sources };
      else if (name === "token") told = { ...told, text: told.text + data.text };
      else if (name === "done") told = data;
      if (told.text) text.replaceChildren(...answer(told, this));
    }
    sources.replaceChildren(...sourceList(told.sources, told.text, this));
    announce(text.textContent);
    return told.search_id ?? null;
  }
}
