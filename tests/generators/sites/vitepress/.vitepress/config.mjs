export default {
  title: "Harbour",
  srcDir: "docs",
  head: [["script", { src: "{service}/widget.js", defer: "" }]],
};
