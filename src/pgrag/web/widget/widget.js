// <pgrag-search>: the button of the search box. What it opens is loaded at the first interaction.
(() => {
  if (customElements.get("pgrag-search")) return;
  const files = new URL("{files}/widget/", document.currentScript.src);
  const service = new URL(".", document.currentScript.src);
  const isMac = /Mac|iP(hone|ad)/.test(navigator.platform);
  const words = {
    en: { search: "Search", failed: "The search cannot be reached. Try again." },
    de: { search: "Suchen", failed: "Die Suche ist nicht erreichbar. Noch einmal versuchen." },
  };
  const css = `
    :host { display: inline-block }
    button { font: inherit; font-size: 14px; color: inherit; background: transparent; display: flex;
      gap: 8px; align-items: center; padding: 5px 10px; border-radius: 8px; cursor: pointer;
      border: 1px solid color-mix(in srgb, currentColor 30%, transparent) }
    button:hover { border-color: currentColor }
    button:focus-visible { outline: 2px solid currentColor; outline-offset: 2px }
    kbd { font: 12px ui-monospace, monospace }
    [role="alert"]:empty { display: none }
    @media (max-width: 600px) { kbd { display: none } }`;

  const isWritingIn = (element) =>
    element?.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(element?.tagName);

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
      sheet.replaceSync(css);
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
      const key = this.#hotkey && `${isMac ? "⌘" : "Ctrl "}${this.#hotkey.toUpperCase()}`;
      const label = this.getAttribute("placeholder") || this.words.search;
      const button = make("button", { part: "button", type: "button", "aria-haspopup": "dialog" });
      if (key) button.setAttribute("aria-keyshortcuts", `${isMac ? "Meta" : "Control"}+${this.#hotkey}`);
      button.append(label, ...(key ? [make("kbd", { part: "key", "aria-hidden": "true" }, key)] : []));
      this.shadowRoot.append(make("slot", {}, button), this.#alert);
    }

    disconnectedCallback() {
      document.removeEventListener("keydown", this);
    }

    get words() {
      return words[this.language] ?? words.en;
    }

    /** Two letters: that of the attribute, else of the nearest element with a language. */
    get language() {
      const lang = this.getAttribute("lang") || this.closest("[lang]")?.lang || "en";
      return lang.slice(0, 2).toLowerCase();
    }

    /** The letter that opens the box together with Ctrl or ⌘; empty: no keys. */
    get #hotkey() {
      const letter = (this.getAttribute("hotkey") ?? "k").toLowerCase();
      return letter === "off" ? "" : letter;
    }

    handleEvent(event) {
      if (event.defaultPrevented || event.isComposing || event.repeat || !this.#hotkey) return;
      const isChord = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
      const isSlash = event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey;
      const isOurs = isChord
        ? event.key.toLowerCase() === this.#hotkey
        : isSlash && !isWritingIn(event.composedPath()[0]);
      if (!isOurs) return;
      event.preventDefault();
      this.open();
    }

    /** Open the box, with words to search for if some are given. */
    async open(query) {
      this.#alert.textContent = "";
      try {
        const { openBox } = await this.#load();
        openBox(this, service, query);
      } catch (fault) {
        console.error("pgrag-search:", fault);
        this.#alert.textContent = this.words.failed;
      }
    }

    #load() {
      // A browser may remember that a script failed: the next attempt has another address.
      const again = this.#attempts ? `?${this.#attempts}` : "";
      this.#loading ??= import(new URL(`box.mjs${again}`, files)).catch((fault) => {
        this.#loading = null;
        this.#attempts += 1;
        throw fault;
      });
      return this.#loading;
    }
  });
})();
