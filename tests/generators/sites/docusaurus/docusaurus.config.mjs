const box = '<pgrag-search library="docusaurus" key="{key}"></pgrag-search>';

export default {
  title: "Harbour",
  url: "http://127.0.0.1",
  baseUrl: "/",
  scripts: [{ src: "{service}/widget.js", defer: true }],
  themeConfig: { navbar: { items: [{ type: "html", position: "right", value: box }] } },
  onBrokenLinks: "warn",
  presets: [["classic", { docs: { routeBasePath: "/" }, blog: false }]],
};
