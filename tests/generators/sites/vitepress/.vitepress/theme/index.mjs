import DefaultTheme from "vitepress/theme";
import { h } from "vue";

const box = () => h("pgrag-search", { library: "vitepress", key: "{key}" });
export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "nav-bar-content-before": box }),
};
