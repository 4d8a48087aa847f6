// Every picture is a list of marks, drawn on a canvas or written as SVG: both show the same.
// {rect}, {dot}, {lines} and {text}; sizes are CSS pixels.

const rect = (x, y, w, h, fill, more = {}) => ({ type: "rect", x, y, w, h, fill, ...more });
const dot = (x, y, r, fill, more = {}) => ({ type: "dot", x, y, r, fill, ...more });
/** Broken lines, each [x, y, x, y, ...]. */
const lines = (paths, stroke, width, more = {}) => ({
  type: "lines",
  paths,
  stroke,
  width,
  ...more,
});
const text = (x, y, words, fill, more = {}) => ({
  type: "text",
  x,
  y,
  words,
  fill,
  size: 12,
  ...more,
});

function moved(marks, dx, dy) {
  return marks.map((mark) =>
    mark.type === "lines"
      ? { ...mark, paths: mark.paths.map((p) => p.map((v, i) => v + (i % 2 ? dy : dx))) }
      : { ...mark, x: mark.x + dx, y: mark.y + dy },
  );
}

const ALIGN = { start: "left", middle: "center", end: "right" };

function paint(context, marks, font) {
  context.textBaseline = "alphabetic";
  context.lineJoin = "round";
  for (const mark of marks) {
    context.globalAlpha = mark.alpha ?? 1;
    if (mark.type === "text") {
      paintText(context, mark, font);
      continue;
    }
    context.beginPath();
    if (mark.type === "rect") context.rect(mark.x, mark.y, mark.w, mark.h);
    else if (mark.type === "dot") context.arc(mark.x, mark.y, mark.r, 0, 2 * Math.PI);
    else tracePaths(context, mark);
    if (mark.fill) {
      context.fillStyle = mark.fill;
      context.fill();
    }
    if (mark.stroke) {
      context.strokeStyle = mark.stroke;
      context.lineWidth = mark.width ?? 1;
      context.setLineDash(mark.dash ?? []);
      context.stroke();
    }
  }
  context.globalAlpha = 1;
}

function tracePaths(context, mark) {
  for (const path of mark.paths) {
    context.moveTo(path[0], path[1]);
    for (let i = 2; i < path.length; i += 2) context.lineTo(path[i], path[i + 1]);
  }
}

const fontOf = (mark, font) => `${mark.weight ?? 400} ${mark.size}px ${font}`;

function paintText(context, mark, font) {
  context.font = fontOf(mark, font);
  context.textAlign = ALIGN[mark.anchor ?? "start"];
  context.direction = "ltr"; // "left" means left also beside Arabic words
  context.fillStyle = mark.fill;
  if (mark.turned) {
    context.save();
    context.translate(mark.x, mark.y);
    context.rotate(-Math.PI / 2);
    context.fillText(mark.words, 0, 0);
    context.restore();
  } else {
    context.fillText(mark.words, mark.x, mark.y);
  }
}

const near = (value) => Math.round(value * 100) / 100;
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Any text as XML takes it: control characters, which no XML can hold, become a replacement. */
function xml(words) {
  return String(words)
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replace(/[&<>"']/g, (c) => ENTITIES[c]);
}

function svgLook(mark) {
  const look = [`fill="${mark.fill ? xml(mark.fill) : "none"}"`];
  if (mark.stroke) look.push(`stroke="${xml(mark.stroke)}" stroke-width="${mark.width ?? 1}"`);
  if (mark.dash) look.push(`stroke-dasharray="${mark.dash.join(" ")}"`);
  if (mark.alpha !== undefined) look.push(`opacity="${mark.alpha}"`);
  return look.join(" ");
}

function svgMark(mark, font) {
  const [x, y] = [near(mark.x), near(mark.y)];
  if (mark.type === "rect") {
    return `<rect x="${x}" y="${y}" width="${near(mark.w)}" height="${near(mark.h)}" ${svgLook(mark)}/>`;
  }
  if (mark.type === "dot")
    return `<circle cx="${x}" cy="${y}" r="${near(mark.r)}" ${svgLook(mark)}/>`;
  if (mark.type === "lines") {
    const path = mark.paths.map((p) => `M${p.map(near).join(" ")}`).join("");
    return `<path d="${path}" stroke-linejoin="round" ${svgLook(mark)}/>`;
  }
  // With another font a name keeps its width, so that it does not run into its neighbour.
  const room = near(textWidth(mark.words, mark.size, font, mark.weight));
  const width = room ? ` textLength="${room}" lengthAdjust="spacingAndGlyphs"` : "";
  const turn = mark.turned ? ` transform="rotate(-90 ${x} ${y})"` : "";
  return (
    `<text x="${x}" y="${y}" font-size="${mark.size}" font-weight="${mark.weight ?? 400}" ` +
    `text-anchor="${mark.anchor ?? "start"}" fill="${xml(mark.fill)}"${width}${turn}>${xml(mark.words)}</text>`
  );
}

/** A whole SVG file. `title` and `about` are read by screen readers and by whoever opens the file. */
function svgFile(marks, width, height, font, title, about) {
  return (
    `<?xml version="1.0" encoding="UTF-8"?>\n` +
    `<svg xmlns="http://www.w3.org/2000/svg" width="${near(width)}" height="${near(height)}" ` +
    `viewBox="0 0 ${near(width)} ${near(height)}" font-family="${xml(font)}" role="img">\n` +
    `<title>${xml(title)}</title>\n<desc>${xml(about)}</desc>\n` +
    `${marks.map((mark) => svgMark(mark, font)).join("\n")}\n</svg>\n`
  );
}

const widths = new Map(); // of texts, by font
let ruler = null;

function textWidth(words, size, font, weight = 400) {
  const key = `${weight} ${size}px ${font}\n${words}`;
  let width = widths.get(key);
  if (width === undefined) {
    ruler ??= document.createElement("canvas").getContext("2d");
    ruler.font = `${weight} ${size}px ${font}`;
    width = ruler.measureText(words).width;
    if (widths.size > 20000) widths.clear();
    widths.set(key, width);
  }
  return width;
}

/** A text in lines of at most `width`. */
function wrapped(words, width, size, font) {
  const found = [];
  let line = "";
  for (const word of String(words).split(/\s+/)) {
    for (const piece of broken(word, width, size, font)) {
      const longer = line ? `${line} ${piece}` : piece;
      if (line && textWidth(longer, size, font) > width) {
        found.push(line);
        line = piece;
      } else line = longer;
    }
  }
  return line ? [...found, line] : found;
}

/** A word longer than a line, such as a hash, in pieces. */
function broken(word, width, size, font) {
  if (textWidth(word, size, font) <= width) return [word];
  const most = Math.max(4, Math.floor((word.length * width) / textWidth(word, size, font)) - 1);
  return word.match(new RegExp(`.{1,${most}}`, "gsu")) ?? [word];
}

/** A text that fits, with an ellipsis where it does not. */
function fitted(words, width, size, font, weight = 400) {
  if (textWidth(words, size, font, weight) <= width) return words;
  const letters = [...words];
  while (letters.length > 1 && textWidth(`${letters.join("")}…`, size, font, weight) > width)
    letters.pop();
  return `${letters.join("")}…`;
}
