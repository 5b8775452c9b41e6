export default {
  title: "Harbour",
  srcDir: "docs",
  head: [["script", { src: "{script}", defer: "" }]],
};
