// How libraries, versions and sources are named: in addresses of the service, and to readers.

/** The address of a library, or of one of its versions by its label ("": no version). */
export function pathOf(library, label) {
  const path = `v1/libraries/${encodeURIComponent(library)}`;
  return label === undefined ? path : `${path}/versions/${encodeURIComponent(label || "-")}`;
}

/** A label as arguments take it: `-` is the documentation without versions. */
export const wish = (label) => label || "-";

export const shownLabel = (label, t) => label || t("unversioned");

/** Where a version came from, in a few words. */
export function sourceOf({ location = "", ref, revision }, t) {
  if (location.startsWith("upload")) return t("upload");
  const part = ref || revision?.slice(0, 10);
  return part ? `${location} (${part})` : location;
}

/** `load(item)` of each, at most `limit` at a time; `onEach(item, value)` as they come. */
export async function eachOf(items, limit, load, onEach) {
  const waiting = [...items];
  const work = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) {
      onEach(item, await load(item));
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
}
