// Light or dark: as the system says, until the reader chooses.

import { keep, kept } from "./kept.mjs";

const root = document.documentElement;
const chosen = kept("theme");
if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;

const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark"
  : matchMedia("(prefers-color-scheme: dark)").matches);

export function changeTheme() {
  root.dataset.theme = isDark() ? "light" : "dark";
  keep("theme", root.dataset.theme);
}
