// Where a chosen hit leads: over the router of the site, if it has one.

/**
 * Go to an address. Routers that listen to clicks on links (VitePress, the instant navigation of
 * Material and Zensical, Turbo, Astro, SvelteKit) take the click on a link of the document; that
 * of Docusaurus listens to the history only. Without one, the browser loads the page.
 */
export function go(href) {
  const address = new URL(href, document.baseURI);
  if (address.origin === location.origin && document.getElementById("__docusaurus")) {
    history.pushState({}, "", address);
    dispatchEvent(new PopStateEvent("popstate", { state: {} }));
    return;
  }
  const link = document.createElement("a");
  link.href = address.href;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}

/**
 * Let the Back button of a touch device call `close`; returns how to undo it, which resolves when
 * the history is as before. Where the browser itself closes dialogs so, nothing is to be done.
 */
export function closeOnBack(close) {
  if ("CloseWatcher" in window || !matchMedia("(pointer: coarse)").matches) return async () => {};
  const before = history.state;
  let isOver = false;
  const back = () => {
    if (isOver) return;
    isOver = true;
    close();
  };
  history.pushState({ ...before, pgrag: true }, "");
  addEventListener("popstate", back, { once: true });
  return async () => {
    removeEventListener("popstate", back);
    if (isOver) return;
    isOver = true;
    if (!history.state?.pgrag) return;
    const undone = new Promise((done) => addEventListener("popstate", done, { once: true }));
    history.back();
    await undone;
  };
}
