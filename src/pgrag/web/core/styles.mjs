// Styles that come with a view, not with the page.

/** Add a style sheet once; resolves when it is there, or cannot be had: a view works without. */
export function styled(address) {
  if (document.querySelector(`link[href="${address}"]`)) return Promise.resolve();
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address });
  document.head.append(link);
  return new Promise((resolve) => (link.onload = link.onerror = resolve));
}
