// The grid of heads: layers downwards, heads to the right, colour for R; and its colour bar.

const LEFT = 38; // px for the layers' numbers
const BELOW = 32; // px for the heads' numbers

/** Where cells lie in a picture of this width, below a title if there is one. */
function gridPlace(model, width, most, title) {
  const { layers, heads } = model;
  const cw = (width - LEFT - 4) / heads;
  const ch = Math.min(Math.max(cw, 11), most / layers);
  const y = title ? 24 : 4;
  return { layers, heads, cw, ch, x: LEFT, y, width, title, height: ch * layers + y + BELOW };
}

/** The cell [layer, head] under a point; the nearest one for points outside. */
function cellAt(place, x, y) {
  const within = (value, n) => Math.max(0, Math.min(n - 1, Math.floor(value)));
  return [
    within((y - place.y) / place.ch, place.layers),
    within((x - place.x) / place.cw, place.heads),
  ];
}

function edges(place) {
  const column = Array.from({ length: place.heads + 1 }, (_, h) =>
    Math.round(place.x + h * place.cw),
  );
  const row = Array.from({ length: place.layers + 1 }, (_, l) =>
    Math.round(place.y + l * place.ch),
  );
  return { column, row };
}

/** Cells coloured by `colourOf(flat index)`, null for a head that has no number. */
function gridMarks(place, colourOf, theme) {
  const { column, row } = edges(place);
  const gap = Math.min(place.cw, place.ch) >= 7 ? 1 : 0;
  const marks = [];
  const crosses = [];
  for (let l = 0; l < place.layers; l++) {
    for (let h = 0; h < place.heads; h++) {
      const colour = colourOf(l * place.heads + h);
      const [x, y] = [column[h], row[l]];
      const [w, t] = [column[h + 1] - x - gap, row[l + 1] - y - gap];
      marks.push(rect(x, y, w, t, colour ?? theme.faint));
      if (!colour) crosses.push([x + 2, y + t - 2, x + w - 2, y + 2]);
    }
  }
  if (crosses.length) marks.push(lines(crosses, theme.soft, 1));
  if (place.title) {
    const words = fitted(place.title, place.width - LEFT - 4, 13, theme.font, 600);
    marks.push(text(LEFT, 15, words, theme.ink, { size: 13, weight: 600 }));
  }
  return [...marks, ...numberMarks(place, column, row, theme)];
}

function numberMarks(place, column, row, theme) {
  const marks = [];
  const small = { size: 11 };
  for (const l of everyFew(place.layers, place.ch, 22)) {
    const y = (row[l] + row[l + 1]) / 2 + 4;
    marks.push(text(LEFT - 6, y, String(l), theme.soft, { ...small, anchor: "end" }));
  }
  for (const h of everyFew(place.heads, place.cw, 30)) {
    const x = (column[h] + column[h + 1]) / 2;
    marks.push(
      text(x, row[place.layers] + 13, String(h), theme.soft, { ...small, anchor: "middle" }),
    );
  }
  const middle = (row[0] + row[place.layers]) / 2;
  marks.push(text(11, middle, "layer", theme.soft, { ...small, anchor: "middle", turned: true }));
  const centre = (column[0] + column[place.heads]) / 2;
  marks.push(
    text(centre, row[place.layers] + 27, "head", theme.soft, { ...small, anchor: "middle" }),
  );
  return marks;
}

/** Numbers 0, s, 2s, ... at least `room` px apart, s being 1, 2, 4, 5, 8, 10 and so on. */
function everyFew(n, size, room) {
  const steps = [1, 2, 4, 5, 8, 10, 16, 20, 25, 32, 50, 64, 100];
  const step = steps.find((s) => s * size >= room) ?? n;
  return Array.from({ length: Math.ceil(n / step) }, (_, i) => i * step);
}

/** A line inside the chosen heads' edge, white on black so that it is seen on every colour. */
function outlineMarks(place, heads) {
  const chosen = new Uint8Array(place.layers * place.heads);
  for (const head of heads) chosen[head] = 1;
  const { column, row } = edges(place);
  const is = (l, h) =>
    l >= 0 && h >= 0 && l < place.layers && h < place.heads && chosen[l * place.heads + h];
  const paths = [];
  for (const head of heads) {
    const [l, h] = [Math.floor(head / place.heads), head % place.heads];
    const [x0, x1, y0, y1] = [column[h] + 1, column[h + 1] - 2, row[l] + 1, row[l + 1] - 2];
    const [left, right] = [is(l, h - 1) ? x0 - 2 : x0, is(l, h + 1) ? x1 + 2 : x1];
    const [up, down] = [is(l - 1, h) ? y0 - 2 : y0, is(l + 1, h) ? y1 + 2 : y1];
    if (!is(l - 1, h)) paths.push([left, y0, right, y0]);
    if (!is(l + 1, h)) paths.push([left, y1, right, y1]);
    if (!is(l, h - 1)) paths.push([x0, up, x0, down]);
    if (!is(l, h + 1)) paths.push([x1, up, x1, down]);
  }
  return [lines(paths, "#000000", 3.5), lines(paths, "#ffffff", 1.5)];
}

/** The corner cells of a rectangle, drawn as one line around it: also its heads without variance. */
function boxMarks(place, [l0, h0, l1, h1]) {
  const { column, row } = edges(place);
  const [x0, y0, x1, y1] = [
    column[h0] - 0.5,
    row[l0] - 0.5,
    column[h1 + 1] - 0.5,
    row[l1 + 1] - 0.5,
  ];
  const around = [[x0, y0, x1, y0, x1, y1, x0, y1, x0, y0]];
  return [lines(around, "#000000", 5), lines(around, "#ffffff", 2.5)];
}

/** A ring around the cell under the pointer or the keyboard's cursor. */
function cursorMarks(place, [l, h], theme) {
  const { column, row } = edges(place);
  const [x, y, w, t] = [column[h], row[l], column[h + 1] - column[h], row[l + 1] - row[l]];
  return [
    rect(x - 3.5, y - 3.5, w + 6, t + 6, null, { width: 5, stroke: "#000000" }),
    rect(x - 3.5, y - 3.5, w + 6, t + 6, null, { width: 2, stroke: theme.accent }),
  ];
}

/** Bar of a scale from low to high, with its numbers, unit and chance levels marked. */
function barMarks(scale, width, theme) {
  const [x, w, y, t] = [LEFT, width - LEFT - 14, 22, 12];
  const marks = [text(x, 13, scale.title, theme.ink, { size: 12, weight: 600 })];
  const n = 64;
  for (let i = 0; i < n; i++) {
    const colour = scale.shade((i + 0.5) / n);
    const left = Math.round(x + (i * w) / n);
    marks.push(rect(left, y, Math.round(x + ((i + 1) * w) / n) - left, t, colour));
  }
  const at = (value) => x + scale.share(value) * w;
  for (const value of scale.ticks) {
    const words = signed(value);
    marks.push(lines([[at(value), y + t, at(value), y + t + 4]], theme.soft, 1));
    marks.push(text(at(value), y + t + 16, words, theme.soft, { size: 11, anchor: "middle" }));
  }
  const chance = chanceMarks(scale, at, y, t, theme, width);
  return { marks: [...marks, ...chance.marks], height: chance.bottom };
}

/** Lines across the bar at the chance levels, with their meaning below. */
function chanceMarks(scale, at, y, t, theme, width) {
  const inside = scale.chance.filter((c) => scale.share(c) >= 0 && scale.share(c) <= 1);
  const paths = inside.map((c) => [at(c), y - 4, at(c), y + t + 4]);
  const rows = scale.chanceWords.flatMap((words) =>
    wrapped(words, width - LEFT - 8, 11, theme.font),
  );
  const top = y + t + 35;
  const marks = [
    lines(paths, "#ffffff", 4),
    lines(paths, "#111111", 2),
    ...rows.map((words, i) => text(LEFT + 8, top + 15 * i, words, theme.ink, { size: 11 })),
  ];
  if (inside.length) marks.push(lines([[LEFT + 1, top - 10, LEFT + 1, top + 2]], theme.ink, 2));
  return { marks, bottom: top + 15 * rows.length - 8 };
}
