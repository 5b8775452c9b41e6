// The look of the search box. A site sets the variables on pgrag-search, and styles its parts.

const css = `
dialog { all: initial; color-scheme: inherit; direction: inherit; display: none;
  --paper: var(--pgrag-paper, light-dark(#fff, #1b1e24));
  --sunken: var(--pgrag-sunken, light-dark(#f4f4f1, #101216));
  --line: var(--pgrag-line, light-dark(#e4e3de, #2b2f37));
  --ink: var(--pgrag-ink, light-dark(#1c1d20, #e7e8ea));
  --soft: var(--pgrag-soft, light-dark(#5d6068, #a0a5b0));
  --accent: var(--pgrag-accent, light-dark(#2f5bd7, #8fb0ff));
  --accent-soft: var(--pgrag-accent-soft, light-dark(#eaf0ff, #202a44));
  --mark: var(--pgrag-mark, light-dark(#ffe9a8, #5a4a12));
  --bad: light-dark(#b3261e, #ff8a80);
  box-sizing: border-box; position: fixed; inset: 0; margin: 10vh auto auto; overflow: hidden;
  width: min(var(--pgrag-width, 640px), 100vw - 32px); max-height: 76vh; flex-direction: column;
  background: var(--paper); color: var(--ink); border: 1px solid var(--line);
  border-radius: var(--pgrag-radius, 12px); box-shadow: 0 18px 50px rgb(0 0 0 / .25);
  font: var(--pgrag-font, 15px/1.5 ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif) }
:host([theme="light"]) { color-scheme: light }
:host([theme="dark"]) { color-scheme: dark }
dialog[open] { display: flex }
dialog::backdrop { background: rgb(0 0 0 / .4) }
dialog *, dialog *::before { box-sizing: border-box }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px }
.field { display: flex; gap: 10px; align-items: center; padding: 10px 16px;
  border-bottom: 1px solid var(--line) }
.field svg { flex: none; color: var(--soft) }
input { flex: 1; min-width: 0; border: 0; outline: 0; background: none; color: inherit; font: inherit;
  font-size: 17px; padding: 4px 0 }
input::placeholder { color: var(--soft); opacity: 1 }
.field:focus-within { box-shadow: inset 0 -2px var(--accent) }
button, select { font: inherit; font-size: 13px; color: var(--soft); background: var(--paper);
  border: 1px solid var(--line); border-radius: 6px; padding: 2px 8px; min-height: 26px;
  cursor: pointer }
button:hover, select:hover { color: var(--ink); border-color: var(--soft) }
kbd { font: 12px ui-monospace, monospace; border: 1px solid var(--line); border-radius: 4px;
  border-bottom-width: 2px; padding: 0 4px }
.body { overflow: auto; overscroll-behavior: contain; flex: 1 1 auto }
.note { margin: 0; padding: 12px 16px; color: var(--soft); font-size: 14px }
.note.bad { color: var(--bad) }
.note:empty, .list:empty { display: none }
.note button { margin-inline-start: 8px }
.list { padding: 6px 0 }
.group { padding: 8px 16px 2px; color: var(--soft); font-size: 12.5px; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap }
.hit { display: block; padding: 7px 16px 8px; color: inherit; text-decoration: none; cursor: pointer;
  border-inline-start: 3px solid transparent; overflow-wrap: anywhere }
.hit:hover { background: var(--sunken) }
.hit[aria-selected="true"] { background: var(--accent-soft); border-color: var(--accent) }
.hit b { display: block; font-weight: 600; font-size: 14.5px }
.hit span { display: -webkit-box; -webkit-line-clamp: 2; -webkit-box-orient: vertical;
  overflow: hidden; color: var(--soft); font-size: 13px }
mark { background: var(--mark); color: inherit; border-radius: 2px; padding: 0 1px }
.answer { padding: 14px 16px; font-size: 15px; white-space: pre-wrap; overflow-wrap: anywhere }
.answer a { color: var(--accent) }
.doubt { text-decoration: underline wavy var(--bad) 1px; text-underline-offset: 4px }
.sources { margin: 0; padding: 0 16px 12px 36px; font-size: 13.5px; color: var(--soft) }
.sources a { color: inherit }
footer { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 7px 16px;
  border-top: 1px solid var(--line); font-size: 12.5px; color: var(--soft) }
footer .count { margin-inline-start: auto }
footer .vote { display: flex; gap: 6px; align-items: center }
[hidden] { display: none !important }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%);
  white-space: nowrap }
@media (max-width: 600px) {
  dialog { width: 100vw; max-width: none; height: 100dvh; max-height: none; margin: 0; border: 0;
    border-radius: 0 }
  .hints { display: none }
  button, select { min-height: 32px }
}
@media (pointer: coarse) { .hints { display: none } }
@media (prefers-reduced-motion: no-preference) {
  dialog[open] { animation: in .12s ease-out }
  @keyframes in { from { opacity: 0; transform: translateY(-6px) } }
}
@media (forced-colors: active) { .hit[aria-selected="true"] { outline: 2px solid; outline-offset: -2px } }
`;

export const sheet = new CSSStyleSheet();
sheet.replaceSync(css);
