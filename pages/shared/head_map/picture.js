// What is seen, as a file: the same marks, with a heading, the numbers, a caption and provenance.

const PAD = 20;
const PRINT = 3; // a picture of 600 px becomes one of 1,800, enough for print

/** All marks of a picture whose panels stand where they stand on the screen. */
function pictureOf(panels, said, theme, width) {
  const inner = width;
  const marks = [];
  let y = PAD;
  const paragraph = (words, size, colour, weight = 400) => {
    for (const line of wrapped(words, inner, size, theme.font)) {
      y += Math.round(size * 1.4);
      marks.push(text(PAD, y, line, colour, { size, weight }));
    }
  };
  paragraph(said.title, 17, theme.ink, 600);
  paragraph(said.selection, 13, theme.soft);
  y += 14;
  let below = 0;
  for (const panel of panels) {
    marks.push(...moved(panel.marks, PAD + panel.x, y + panel.y));
    below = Math.max(below, panel.y + panel.height);
  }
  y += below + 6;
  for (const words of said.numbers) paragraph(words, 12, theme.ink);
  for (const words of said.caption) {
    y += 4;
    paragraph(words, 11, theme.soft);
  }
  const [w, h] = [width + 2 * PAD, y + PAD];
  return { marks: [rect(0, 0, w, h, theme.paper), ...marks], width: w, height: h };
}

function svgBlob(picture, said, theme) {
  const about = [said.selection, ...said.numbers, ...said.caption].join("\n");
  const file = svgFile(picture.marks, picture.width, picture.height, theme.font, said.title, about);
  return new Blob([file], { type: "image/svg+xml" });
}

function pngBlob(picture, theme) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(picture.width * PRINT);
  canvas.height = Math.ceil(picture.height * PRINT);
  const context = canvas.getContext("2d");
  context.scale(PRINT, PRINT);
  paint(context, picture.marks, theme.font);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** What Python says of the heads that are shown; nothing of a preview's. */
const saidOf = (map) =>
  map.preview || choiceText(map.choice) !== map.data.choice ? "" : map.data.said;

/** The numbers of every model; without the tests where Python's sentences have them. */
const numbersOf = (map) =>
  saidOf(map)
    ? map.shown.map((one, i) => (one ? besideOf(one, map.models[i]) : map.sentences[i]))
    : map.sentences;

/** Save what is seen, as "png" or "svg"; an SVG has its caption for screen readers always. */
async function save(map, kind) {
  const { grids, bar, strips, legend, single } = map.panels;
  const frame = map.parts.panels.getBoundingClientRect();
  const panels = [...grids, bar, ...strips, legend, single]
    .filter((panel) => !panel.empty)
    .map((panel) => {
      const box = panel.element.getBoundingClientRect();
      const marks = panel.layers.flatMap((layer) => layer.marks);
      return { marks, x: box.left - frame.left, y: box.top - frame.top, height: panel.height };
    });
  const { data } = map;
  const made = Object.entries(data.provenance)
    .filter(([, value]) => value.trim())
    .map(([name, value]) => `${name}: ${value}`)
    .join("; ");
  const state = map.preview ? " (preview, computed in the browser)" : "";
  const said = {
    title: `${data.axis.poles.join(" ↔ ")}: ${map.models.map((model) => model.name).join(" and ")}`,
    selection: `Selection: ${choiceWords(map.choice)}${state}`,
    numbers: numbersOf(map),
    caption: [
      ...[saidOf(map), data.caption, drawnWords(data), unnamedWords(map)],
      made && `Made from: ${made}.`,
    ].filter(Boolean),
  };
  const seen = map.parts.captioned.checked ? said : { ...said, numbers: [], caption: [] };
  const picture = pictureOf(panels, seen, map.theme, frame.width);
  const blob =
    kind === "svg" ? svgBlob(picture, said, map.theme) : await pngBlob(picture, map.theme);
  download(blob, `${data.file}-${choiceText(map.choice).replace(/\W+/g, "-")}.${kind}`);
}
