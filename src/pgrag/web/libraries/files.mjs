// Files that a reader chose or dropped, folders with all that is in them.

/** Suffixes of what the service reads; other files of a folder are left out. */
export const SUFFIXES = `
.1 .2 .3 .4 .5 .6 .7 .8 .9 .1.gz .2.gz .3.gz .4.gz .5.gz .6.gz .7.gz .8.gz .9.gz .adoc .asc
.asciidoc .doc .docm .docx .dotm .dotx .epub .htm .html .ipynb .markdown .md .mdx .odp .ods .odt
.pdf .potm .potx .ppsm .ppsx .ppt .pptm .pptx .qmd .rest .rmd .rst .text .txt .xhtml .xls .xlsb
.xlsm .xlsx .xltm .xltx
`.trim().split(/\s+/);
export const ARCHIVES = [".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".ndjson"];
/** The service takes this many files at once. */
export const MOST = 1000;

const endsWith = (name, suffixes) => suffixes.some((each) => name.toLowerCase().endsWith(each));

/** What is sent of `[path, file]` pairs; how many are left out: hidden, or of no known format. */
export function sorted(pairs) {
  const isKnown = ([path]) => !path.split("/").some((part) => part.startsWith("."))
    && endsWith(path, [...SUFFIXES, ...ARCHIVES]);
  const known = pairs.filter(isKnown);
  return { files: known, leftOut: pairs.length - known.length };
}

/** `[path, file]` of the files of an input, which may be those of a folder. */
export const chosen = (input) => [...input.files].map((file) => [
  // The folder itself is no part of the keys of its pages.
  file.webkitRelativePath ? file.webkitRelativePath.replace(/^[^/]*\//, "") : file.name, file,
]);

/** `[path, file]` of everything that was dropped. */
export async function dropped(transfer) {
  // Entries are gone after the event, so all are taken before the first wait.
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => [file.name, file]);
  const isOneFolder = entries.length === 1 && entries[0].isDirectory;
  const found = await Promise.all(entries.map((entry) => filesOf(entry, "")));
  const keyOf = (path) => (isOneFolder ? path.replace(/^[^/]*\//, "") : path);
  return found.flat().map(([path, file]) => [keyOf(path), file]);
}

async function filesOf(entry, above) {
  const path = above + entry.name;
  if (entry.isFile) {
    return [[path, await new Promise((resolve, reject) => entry.file(resolve, reject))]];
  }
  const reader = entry.createReader();
  const found = [];
  // A reader gives a hundred entries at a time, and none at the end.
  for (;;) {
    const entries = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!entries.length) break;
    for (const each of entries) found.push(...await filesOf(each, `${path}/`));
  }
  return found;
}
