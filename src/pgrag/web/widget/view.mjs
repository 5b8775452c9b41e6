// What the dialog shows: hits, recent searches, an answer, or what went wrong and the way out.

import { button } from "./frame.mjs";
import { group, make, option, pages } from "./results.mjs";

export class View {
  #selected = -1;

  /** `parts` of `frame`; `act` holds what the rows and buttons do. */
  constructor(parts, words, act) {
    Object.assign(this, { parts, words, act });
  }

  get options() {
    return [...this.parts.list.querySelectorAll("[role=option]")];
  }

  get selected() {
    return this.options[this.#selected] ?? null;
  }

  /** Move the selection; after the last row comes the first. */
  move(step) {
    const count = this.options.length;
    const from = this.#selected < 0 && step < 0 ? 0 : this.#selected;
    if (count) this.#select((from + step + count) % count);
  }

  #select(nth) {
    const { body, input } = this.parts;
    this.#selected = nth;
    this.options.forEach((each, number) => {
      each.id = `option-${number}`;
      each.setAttribute("aria-selected", String(number === nth));
      if (number === nth && nth > 0) each.scrollIntoView({ block: "nearest" });
    });
    if (nth <= 0) body.scrollTop = 0;
    if (nth < 0) input.removeAttribute("aria-activedescendant");
    else input.setAttribute("aria-activedescendant", `option-${nth}`);
  }

  say(text, { isBad = false, buttons = [] } = {}) {
    const { note, live } = this.parts;
    note.className = isBad ? "note bad" : "note";
    note.replaceChildren(...(text ? [text] : []), ...buttons);
    live.textContent = text;
  }

  /** Show a state of the search: `found`, a `problem`, or neither, with the `recent` searches. */
  show({ query, found, suggestions, problem, recent = [], mayAsk = false }) {
    const { list, after, vote, count, input } = this.parts;
    for (const each of [list, after, vote]) each.replaceChildren();
    vote.hidden = true;
    count.textContent = "";
    if (problem) this.#problem(problem);
    else if (found) this.#found(query, found, suggestions, mayAsk);
    else this.#recent(recent);
    input.setAttribute("aria-expanded", String(this.options.length > 0));
    this.#select(found?.pages.length ? 0 : -1);
  }

  #recent(recent) {
    const rows = recent.map((query) =>
      option(make("b", {}, query), { go: () => this.act.search(query) }));
    if (rows.length) this.parts.list.append(group(this.words.recent, rows, "recent"));
    this.say("");
  }

  #problem({ kind, status, wait, message }) {
    const { words, act } = this;
    // What the service cannot read in the reader's words, it says itself.
    const told = words[kind] ?? ((status === 422 && message) || words.down);
    const text = typeof told === "function" ? told(wait) : told;
    const buttons = [];
    if (!status || status === 429 || status > 499) {
      buttons.push(button(words.again, () => act.search()));
    }
    if (kind === "unknown-version") buttons.push(button(words.newest, () => act.choose("")));
    this.say(text, { isBad: true, buttons });
  }

  #found(query, found, suggestions, mayAsk) {
    const { words, act, parts } = this;
    const hits = found.pages.reduce((sum, page) => sum + page.hits.length, 0);
    const isWeak = !hits || found.no_good_match;
    parts.list.append(...pages(found, act));
    if (mayAsk) parts.list.append(option(make("b", {}, words.ask(query)), { go: act.ask }));
    this.say(!hits ? words.nothing(query) : isWeak ? words.weak : "");
    if (suggestions.length) {
      const others = suggestions.map((other) => button(other, () => act.search(other)));
      parts.note.append(` ${words.didYouMean}`, ...others);
    }
    if (isWeak) {
      const tell = () => act.rate(1, parts.after, { comment: "found nothing" });
      parts.after.append(button(words.missing, tell));
    } else {
      parts.live.textContent = parts.count.textContent = words.found(hits, found.pages.length);
      this.offerVote();
    }
  }

  /** Ask whether it helped: the search, or the answer of this id. */
  offerVote(searchId) {
    const { vote } = this.parts;
    const { helpful, yes, no } = this.words;
    const offer = (text, rating) =>
      button(text, () => this.act.rate(rating, vote, { searchId }), {
        "aria-label": `${helpful} ${text}`,
      });
    vote.replaceChildren(helpful, offer(yes, 5), offer(no, 1));
    vote.hidden = false;
  }

  /** The place of an answer, instead of the list. */
  answerPlace() {
    const { list, after, vote, count, input } = this.parts;
    for (const each of [list, after]) each.replaceChildren();
    vote.hidden = true;
    count.textContent = "";
    this.say("", { buttons: [button(this.words.back, () => this.act.search())] });
    input.setAttribute("aria-expanded", "false");
    this.#select(-1);
    const place = make("div", {});
    this.parts.after.append(place);
    return place;
  }
}
