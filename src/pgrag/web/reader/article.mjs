// The text of a page in the document: its anchors, its links, and where the reader is in it.

import { href } from "../core/address.mjs";

const HEADINGS = "h1, h2, h3, h4, h5, h6";
/** The distance from the top of the panel at which what was asked for is put. */
const MARGIN = 12;

/**
 * Make the text of a page one of this page. Its anchors get a name of their own: an `id` out there
 * may be one in here. Links to pages of the documentation lead to the reader, also in a new tab.
 * Levels of headings that are left out are told as if they were not.
 */
export function prepare(element, params) {
  for (const each of element.querySelectorAll("[id]")) {
    each.dataset.anchor = each.id;
    each.removeAttribute("id");
  }
  for (const link of element.querySelectorAll("a[data-page-id]")) {
    link.dataset.anchorOf = fragment(link);
    const { q, library, version } = params;
    const { pageId: page, anchorOf: at } = link.dataset;
    link.href = href("search", { q, library, version, page, at });
  }
  for (const table of element.querySelectorAll("table")) {
    const frame = Object.assign(document.createElement("div"), { className: "wide" });
    table.replaceWith(frame);
    frame.append(table);
  }
  for (const each of element.querySelectorAll("pre, .wide")) {
    if (each.scrollWidth > each.clientWidth) each.tabIndex = 0;
  }
  let above = element.querySelector("h1") ? 0 : 1;
  for (const heading of element.querySelectorAll(HEADINGS)) {
    const level = Number(heading.localName[1]);
    const told = Math.min(level, above + 1);
    if (told !== level) heading.ariaLevel = String(told);
    above = told;
  }
}

const fragment = (link) => {
  const [, text = ""] = (link.getAttribute("href") ?? "").split("#");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Follow a link of the text that leads to a page of the documentation or a place of this one. */
export function follow(event, { onPage, onAnchor }) {
  const link = event.target.closest("a");
  const is_other = event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button;
  if (!link || is_other || event.defaultPrevented) return;
  if (link.dataset.pageId) {
    event.preventDefault();
    onPage(Number(link.dataset.pageId), link.dataset.anchorOf || null);
  } else if (link.getAttribute("href")?.startsWith("#")) {
    event.preventDefault();
    onAnchor(fragment(link));
  }
}

/** What scrolls: the panel where it stands beside the hits, else the window. */
function frameOf(article) {
  const panel = article.closest(".reader-panel");
  const is_own = getComputedStyle(panel).overflowY === "auto";
  return is_own ? panel : document.scrollingElement;
}

/** The distance of an element from where the text begins to be seen, below the outline. */
function offset(element, frame) {
  const outline = element.closest(".reader-panel").querySelector(".outline > summary");
  const top = frame === document.scrollingElement ? 0 : frame.getBoundingClientRect().top;
  return element.getBoundingClientRect().top - top - outline.offsetHeight - MARGIN;
}

/**
 * Scroll to an anchor, else to the passage, else to the beginning. Gives the section that is then
 * read.
 */
export function reveal(article, anchor, { focuses = false } = {}) {
  const frame = frameOf(article);
  const wanted = anchor
    ? article.querySelector(`[data-anchor="${CSS.escape(anchor)}"]`)
    : article.querySelector(".passage");
  const from = wanted && !anchor ? headingOf(article, wanted, frame) : wanted;
  frame.scrollTop += from ? offset(from, frame) : -frame.scrollTop;
  if (focuses && wanted) {
    wanted.tabIndex = -1;
    wanted.focus({ preventScroll: true });
  }
  return current(article);
}

/** The heading of a passage if both can be seen at once, else the passage. */
function headingOf(article, passage, frame) {
  const above = [...article.querySelectorAll(HEADINGS)].filter(
    (each) => each.compareDocumentPosition(passage) & Node.DOCUMENT_POSITION_FOLLOWING,
  );
  const heading = above.at(-1);
  const is_near = heading && offset(passage, frame) - offset(heading, frame) < innerHeight / 3;
  return is_near ? heading : passage;
}

/** The heading above what is read, as `{anchor, text}`; null above the first. */
function current(article) {
  const frame = frameOf(article);
  const headings = [...article.querySelectorAll(`:is(${HEADINGS})[data-anchor]`)];
  // The last sections may be too short to come to the top.
  const { scrollTop, clientHeight, scrollHeight } = frame;
  const is_end = scrollTop > 0 && scrollTop + clientHeight > scrollHeight - 2;
  const heading = headings.filter((each) => is_end || offset(each, frame) <= MARGIN).at(-1);
  return heading ? { anchor: heading.dataset.anchor, text: heading.textContent } : null;
}

/** Call `show` with the section that is read when that may have changed; gives the end of it. */
export function onScroll(article, show) {
  let waits = 0;
  const scrolled = () => {
    cancelAnimationFrame(waits);
    waits = requestAnimationFrame(() => article.isConnected && show(current(article)));
  };
  // Scrolling does not bubble, but it can be caught on its way down.
  document.addEventListener("scroll", scrolled, { passive: true, capture: true });
  return () => document.removeEventListener("scroll", scrolled, { capture: true });
}
