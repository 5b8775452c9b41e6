import DefaultTheme from "vitepress/theme";
import { h } from "vue";

// Vue keeps the attribute key for itself, so the element is HTML.
const box = '<pgrag-search library="vitepress" key="{key}"></pgrag-search>';
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, { "nav-bar-content-before": () => h("div", { innerHTML: box }) }),
};
