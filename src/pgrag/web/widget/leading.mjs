// Where a chosen hit leads: over the router of the site, if it has one.

/**
 * Go to an address. Routers that listen to clicks on links, as that of VitePress does, take the
 * click on a link of the document; that of Docusaurus listens to the history only. Without one, the
 * browser loads the page.
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
 * Let the Back button of a touch device call `close`; returns what undoes it, a promise if that
 * takes a moment. Where the browser itself closes dialogs so, nothing is to be done.
 */
export function closeOnBack(close) {
  if ("CloseWatcher" in window || !matchMedia("(pointer: coarse)").matches) return () => {};
  history.pushState({ ...history.state, pgrag: true }, "");
  const left = new Promise((done) => {
    // A step of the history that has not ended would take the page back that comes next.
    addEventListener("popstate", () => setTimeout(done, 0, close()), { once: true });
  });
  return () => {
    if (!history.state?.pgrag) return;
    history.back();
    return left;
  };
}
