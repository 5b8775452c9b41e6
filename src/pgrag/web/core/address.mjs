// The state of the page is its address: the view is the last part of the path, all else its query.

import { html } from "./html.mjs";
import { store, useStore } from "./store.mjs";

/** The address of the service, with a slash at its end: it may lie below a path of a proxy. */
export const base = new URL(".", document.baseURI);

const address = store(read());

function read() {
  const view = location.pathname.slice(base.pathname.length).replace(/\/+$/, "");
  const params = Object.fromEntries(new URLSearchParams(location.search));
  return { view: view || "search", params };
}

/** The relative address of a view. Values that are empty, null or undefined are left out. */
export function href(view, params = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== "" && value !== null && value !== undefined) query.set(name, value);
  }
  const text = query.toString();
  return `./${view === "search" ? "" : view}${text && `?${text}`}`;
}

/**
 * Go to a view. `replace` changes the entry of the browser's history instead of adding one: for
 * what changes with every key, so that Back leads to where the reader was, not to a letter less.
 */
export function go(view, params, { replace = false } = {}) {
  const next = new URL(href(view, params), base);
  if (next.href === location.href) return;
  history[replace ? "replaceState" : "pushState"](null, "", next);
  address.set(read());
}

addEventListener("popstate", () => address.set(read()));

/** The view and its parameters; the caller is drawn anew when they change. */
export const useAddress = () => useStore(address);
export const currentAddress = () => address.get();

/** A link within the page; with a modifier key the browser opens it as any other. */
export function Link({ view, params, children, ...others }) {
  function follow(event) {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button) return;
    event.preventDefault();
    go(view, params);
  }
  return html`<a ...${others} href=${href(view, params)} onClick=${follow}>${children}</a>`;
}
