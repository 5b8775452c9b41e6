// Light or dark: as the system says, until the reader chooses.

import { keep, kept } from "./kept.mjs";

const root = document.documentElement;
const chosen = kept("theme");
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

const isDark = () =>
  (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) ===
  "dark";

export function changeTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  keep("theme", root.dataset.theme);
}
