// The look of the search box: box.css, which is put here when the file is sent.

export const sheet = new CSSStyleSheet();
sheet.replaceSync("{box.css}");
