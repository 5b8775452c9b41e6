export default {
  title: "Harbour",
  url: "http://127.0.0.1",
  baseUrl: "/",
  scripts: [{ src: "{script}", defer: true }],
  onBrokenLinks: "warn",
  presets: [["classic", { docs: { routeBasePath: "/" }, blog: false }]],
};
