// The search box: a combobox over a list of pages and their passages, in a dialog.

import { Answering } from "./answering.mjs";
import { frame } from "./frame.mjs";
import { closeOnBack, go } from "./leading.mjs";
import { make } from "./results.mjs";
import { Searching } from "./searching.mjs";
import { Service, addressOf } from "./service.mjs";
import { sheet } from "./style.mjs";
import { View } from "./view.mjs";

const boxes = new WeakMap();
const KEPT = 5; // recent searches, in memory only

/** Open the box of an element, with a query if one is given; `words` are those of its language. */
export function openBox({ host, service, words, query }) {
  if (!boxes.has(host)) boxes.set(host, new Box(host, service, words));
  boxes.get(host).open(query);
}

class Box {
  #host;
  #service;
  #words;
  #recent = [];
  #versions = null;
  #version;
  #state = {};
  #undoBack = null;
  #mayAsk = false;

  constructor(host, address, words) {
    const wish = host.getAttribute("version") ?? "";
    this.#host = host;
    this.#words = words;
    this.#service = new Service(address, host);
    this.#version = wish === "off" ? "" : wish;
    const leads = (hit) => addressOf(hit, host.getAttribute("base"));
    this.searching = new Searching(this.#service, (state) => this.#show(state));
    this.answering = new Answering({ service: this.#service, words, addressOf: leads });
    this.parts = frame({
      words, placeholder: host.getAttribute("placeholder") || words.placeholder,
      on: {
        input: {
          input: (event) => this.#ask({ isComposing: event.isComposing }),
          keydown: (event) => this.#pressed(event),
        },
        select: { change: () => this.#choose(this.parts.select.value) },
        close: { click: () => this.#dialog.close() },
        dialog: {
          close: () => this.#closed(),
          click: (event) => event.target === this.#dialog && this.#dialog.close(),
        },
      },
    });
    this.view = new View(this.parts, words, {
      addressOf: leads,
      lead: (hit, href) => this.#lead(hit, href),
      search: (query) => this.#search(query),
      choose: (version) => this.#choose(version),
      ask: () => this.#answer(),
      rate: (...given) => this.#rate(...given),
    });
  }

  get #dialog() {
    return this.parts.dialog;
  }

  open(query) {
    const { input } = this.parts;
    if (!this.#dialog.open) {
      this.#place().append(this.#dialog);
      this.#dialog.showModal();
      this.#undoBack = closeOnBack(() => this.#dialog.close());
      this.#host.dispatchEvent(new CustomEvent("pgrag:open", { bubbles: true, composed: true }));
    }
    input.focus();
    if (this.#service.hasSecret) {
      console.error("pgrag-search: the key is a secret one: revoke it, use a publishable one.");
      this.view.say(this.#words.secret, { isBad: true });
      input.disabled = true;
      return;
    }
    if (query !== undefined) input.value = String(query);
    input.select();
    this.#prepare();
    // What was asked before is still there, and still true.
    if (query !== undefined || !this.#state.found) this.#ask();
  }

  /** Where the dialog lies: in the element, or beside it while the site does not show it. */
  #place() {
    const isShown = this.#host.checkVisibility?.() ?? true;
    if (!isShown && !this.beside) {
      this.beside = document.body.appendChild(make("div")).attachShadow({ mode: "open" });
    }
    const root = isShown ? this.#host.shadowRoot : this.beside;
    if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
    return root;
  }

  /** Learn once which versions there are, and whether answers may be asked for. */
  async #prepare() {
    if (this.#versions) return;
    this.#versions = [];
    if (this.#host.hasAttribute("ask")) {
      this.#service.answers().then((may) => {
        this.#mayAsk = may;
        if (may && this.#state.found) this.#show(this.#state);
      }, () => {});
    }
    if (this.#host.getAttribute("version") === "off" || !this.#host.getAttribute("library")) return;
    // A request that fails is made again when the box is opened next.
    this.#versions = await this.#service.versions().catch(() => null);
    if (!this.#versions?.length) return;
    const { select, versions, keys } = this.parts;
    const label = (version) => (version === "-" ? this.#words.unversioned : version);
    select.append(...this.#versions.map((each) => make("option", { value: each }, label(each))));
    select.hidden = versions.hidden = false;
    keys.append(` ${this.#words.versionKeys}`);
    this.#showVersion();
  }

  /** Show which version was read; a wish may be none of them, such as ^2. */
  #showVersion() {
    const read = this.#state.found?.resolved?.[0]?.version;
    this.parts.select.value = read === undefined ? this.#version : read || "-";
  }

  #choose(version) {
    this.#version = version;
    this.#ask();
  }

  #search(query = this.parts.input.value) {
    this.parts.input.value = query;
    this.parts.input.focus();
    this.#ask();
  }

  #ask(options) {
    this.answering.stop();
    this.searching.ask(this.parts.input.value, this.#version, options);
  }

  #pressed(event) {
    // What an input method composes is no command; some report it by the key 229 only.
    if (event.isComposing || event.keyCode === 229) return;
    const { key, ctrlKey, metaKey, shiftKey } = event;
    if (key === "Tab" && !shiftKey && this.#versions?.length) {
      const { select } = this.parts;
      select.selectedIndex = (select.selectedIndex + 1) % this.#versions.length;
      this.#choose(select.value);
    } else if (key === "ArrowDown" || key === "ArrowUp") {
      this.view.move(key === "ArrowDown" ? 1 : -1);
    } else if (key === "Enter") {
      // With Ctrl or ⌘ the browser opens another tab.
      const how = { bubbles: true, cancelable: true, composed: true, ctrlKey, metaKey, shiftKey };
      this.view.selected?.dispatchEvent(new MouseEvent("click", how));
    } else return;
    event.preventDefault();
  }

  #show(state) {
    this.#dialog.setAttribute("aria-busy", String(Boolean(state.isLoading)));
    if (state.isLoading) return;
    this.#state = state;
    this.view.show({ ...state, recent: this.#recent, mayAsk: this.#mayAsk });
    if (state.found && this.#versions?.length) this.#showVersion();
  }

  async #lead(hit, href) {
    const detail = { url: href, query: this.#state.query, hit };
    const selected = new CustomEvent("pgrag:select", {
      bubbles: true, composed: true, cancelable: true, detail,
    });
    if (!href) {
      this.view.say(this.#words.noAddress, { isBad: true });
      return;
    }
    this.#dialog.close();
    // The event comes later: the history is as before when the page that was chosen opens.
    await this.#closed();
    if (this.#host.dispatchEvent(selected)) go(href);
  }

  /** Keep a search that led somewhere, or that the reader gave up: only then it was meant. */
  #remember() {
    const { query, found } = this.#state;
    if (!found) return;
    this.#recent = [query, ...this.#recent.filter((each) => each !== query)].slice(0, KEPT);
    this.searching.recorded();
  }

  #closed() {
    const undo = this.#undoBack;
    this.#undoBack = null;
    if (!undo) return null;
    this.#remember();
    this.answering.stop();
    return undo();
  }

  async #answer() {
    const { query } = this.#state;
    this.#remember();
    const place = this.view.answerPlace();
    try {
      const announce = (text) => (this.parts.live.textContent = text);
      const id = await this.answering.ask(query, this.#version, place, announce);
      if (id) this.view.offerVote(id);
    } catch (problem) {
      if (problem.name === "AbortError") return;
      place.textContent = problem.status === 429 ? this.#words.limit : this.#words.noAnswer;
      this.parts.live.textContent = place.textContent;
    }
  }

  /** Rate what was found, or the answer of an id; what happened takes the place of the buttons. */
  async #rate(rating, place, { comment, searchId }) {
    this.parts.input.focus();
    const id = searchId ?? (await this.searching.recorded());
    // Without a record of the search there is nothing to rate.
    const { told: kept, notKept } = this.#words;
    const told = id
      ? await this.#service.rate(id, rating, comment).then(() => kept, () => notKept)
      : notKept;
    place.replaceChildren(told);
    this.parts.live.textContent = told;
  }
}
