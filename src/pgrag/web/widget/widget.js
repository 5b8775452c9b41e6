// <pgrag-search>: the button of the search box. What it opens is loaded at the first interaction.
(() => {
  if (customElements.get("pgrag-search")) return;
  const source = new URL(document.currentScript.src);
  const files = new URL("{files}/widget/", source);
  const service = new URL(".", source);
  const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);
  const words = {
    en: { search: "Search", failed: "The search cannot be reached." },
    de: { search: "Suchen", failed: "Die Suche ist nicht erreichbar." },
  };

  const isWritingIn = (element) =>
    element.closest?.("input, textarea, select, [contenteditable]");

  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  customElements.define("pgrag-search", class extends HTMLElement {
    #attempts = 0;
    #loading = null;
    #alert = make("span", { part: "problem", role: "alert" });

    constructor() {
      super();
      const sheet = new CSSStyleSheet();
      sheet.replaceSync("{widget.css}");
      this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
      this.addEventListener("click", (event) => {
        if (!event.composedPath().some((each) => each.tagName === "DIALOG")) this.open();
      });
      for (const sign of ["pointerenter", "focusin"]) {
        this.addEventListener(sign, () => this.#load().catch(() => {}), { once: true });
      }
    }

    connectedCallback() {
      document.addEventListener("keydown", this);
      if (this.shadowRoot.firstChild) return;
      const key = this.#hotkey.toUpperCase();
      const label = this.getAttribute("placeholder") || this.words.search;
      const button = make("button", { part: "button", "aria-haspopup": "dialog" }, label);
      if (key) {
        button.ariaKeyShortcuts = `${isMac ? "Meta" : "Control"}+${key}`;
        const shown = (isMac ? "⌘" : "Ctrl ") + key;
        button.append(make("kbd", { part: "key", "aria-hidden": "true" }, shown));
      }
      this.shadowRoot.append(make("slot", {}, button), this.#alert);
    }

    disconnectedCallback() {
      document.removeEventListener("keydown", this);
    }

    /** That of the attribute, else of the nearest element with one; English for all others. */
    get language() {
      const lang = this.closest("[lang]")?.lang.slice(0, 2).toLowerCase();
      return lang in words ? lang : "en";
    }

    get words() {
      return words[this.language];
    }

    /** The letter that opens the box together with Ctrl or ⌘; empty: no keys. */
    get #hotkey() {
      const letter = (this.getAttribute("hotkey") ?? "k").toLowerCase();
      return letter === "off" ? "" : letter;
    }

    handleEvent(event) {
      if (event.defaultPrevented || event.isComposing || event.repeat || !this.#hotkey) return;
      const isOurs = event.ctrlKey || event.metaKey
        ? event.key.toLowerCase() === this.#hotkey && !event.shiftKey
        : event.key === "/" && !isWritingIn(event.composedPath()[0]);
      if (!isOurs || event.altKey) return;
      event.preventDefault();
      this.open();
    }

    /** Open the box, with words to search for if some are given. */
    async open(query) {
      this.#alert.textContent = "";
      try {
        const [{ openBox }, { texts }] = await this.#load();
        openBox({ host: this, service, words: texts, query });
      } catch (fault) {
        console.error("pgrag-search:", fault);
        this.#alert.textContent = this.words.failed;
      }
    }

    #load() {
      // A browser may remember that a script failed: the next attempt has another address.
      const again = this.#attempts ? `?${this.#attempts}` : "";
      const names = ["box.mjs", `texts.${this.language}.mjs`];
      const load = (name) => import(new URL(name + again, files));
      return (this.#loading ??= Promise.all(names.map(load)).catch((fault) => {
        this.#loading = null;
        this.#attempts += 1;
        throw fault;
      }));
    }
  });

  // Where a site can only name a script, its address has the attributes; `in` selects the place.
  const { in: place, ...attributes } = Object.fromEntries(source.searchParams);
  function settle() {
    if (!attributes.library || document.querySelector("pgrag-search")) return;
    const home = place && document.querySelector(place);
    const own = make("pgrag-search", home ? attributes : { ...attributes, floating: "" });
    (home ?? document.body).append(own);
  }
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", settle);
  else settle();
})();
