// Where concepts fall between the two poles, in front of the cloud of reference phrases.
// Concepts stand in lanes, each with its name beside its dot, so that no two names overlap. A name
// stays in its lane while it has room there, so that it does not jump while heads are dragged.

const LANE = [17, 24]; // px, with many and with few lanes
const DOTS = 9; // px of a row of dots without names
const SIDE = 10;
const NAME = 12; // font size
const LONGEST = 150; // px of a name

const LINES = [7, -8, 11, -12]; // px of an interval from its mark: below or above, near or farther

const STEPS = [0.5, 1, 1.5, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64];

/** The limit of an axis that shows all of these values. */
function limitOf(...sets) {
  let most = 0;
  for (const values of sets)
    for (const v of values) if (Number.isFinite(v)) most = Math.max(most, Math.abs(v));
  return STEPS.find((step) => step >= most * 1.04) ?? Math.ceil(most);
}

function nameOf(concept) {
  const sign = concept.label ? (concept.label > 0 ? "+ " : "− ") : "";
  return `${sign}\u2068${concept.short}\u2069`;
}

/** How many lanes names of this many concepts need; the same for every selection. */
function laneCount(concepts, width, font) {
  let room = 0;
  for (const concept of concepts) room += textWidth(nameOf(concept), NAME, font) + 22;
  const [wanted, most] = [Math.ceil(room / (0.55 * width)) + 1, width < 500 ? 20 : 14];
  // Dots whose names have no room stand in rows of their own below.
  return { named: Math.max(4, Math.min(most, wanted)), dots: wanted > most ? 6 : 2 };
}

/** A lane and a side for every concept's name; a row for a dot whose name has no room. */
function placed(concepts, values, at, n, width, font, memory) {
  const taken = Array.from({ length: n.named }, () => []);
  const free = (lane, from, to) => taken[lane].every(([a, b]) => to < a || from > b);
  const found = new Array(concepts.length).fill(null);
  const later = [];
  concepts.forEach((concept, i) => {
    if (!Number.isFinite(values[i])) return;
    const x = at(values[i]);
    const room = textWidth(nameOf(concept), NAME, font) + 11;
    const before = memory.get(concept.text);
    const lanes = [...taken.keys()];
    if (before !== undefined && before < n.named) lanes.unshift(before);
    const sides = x + room > width - SIDE ? [-1, 1] : [1, -1];
    for (const side of sides) {
      const [from, to] = side > 0 ? [x - 7, x + room + 3] : [x - room - 3, x + 7];
      if (from < 0 || to > width) continue;
      const lane = lanes.find((l) => free(l, from, to));
      if (lane === undefined) continue;
      taken[lane].push([from, to]);
      memory.set(concept.text, lane);
      found[i] = { i, x, lane, side, named: true, from, to };
      return;
    }
    later.push(i);
  });
  const rows = Array.from({ length: n.dots }, () => []);
  for (const i of later) {
    const x = at(values[i]);
    const open = rows.findIndex((dots) => dots.every((other) => Math.abs(other - x) > 8));
    const row = open < 0 ? i % n.dots : open;
    rows[row].push(x);
    found[i] = { i, x, lane: row, side: 1, named: false, from: x, to: x };
  }
  return found.filter(Boolean);
}

/** Smoothed density of values at points; bandwidth by Silverman's rule. */
function density(values, points) {
  const known = Array.from(values).filter(Number.isFinite);
  const n = known.length;
  if (n < 2) return null;
  const mean = known.reduce((a, b) => a + b, 0) / n;
  const sd = Math.sqrt(known.reduce((a, b) => a + (b - mean) ** 2, 0) / (n - 1));
  if (!(sd > ROUNDING)) return null;
  const width = 1.06 * sd * n ** -0.2;
  return points.map((p) =>
    known.reduce((sum, v) => sum + Math.exp(-0.5 * ((p - v) / width) ** 2), 0),
  );
}

function cloudMarks(reference, limit, at, top, bottom, theme) {
  const points = Array.from({ length: 81 }, (_, i) => (i / 40 - 1) * limit);
  const heights = density(reference, points);
  const rug = [];
  for (const v of reference)
    if (Number.isFinite(v)) rug.push([at(v), bottom + 2, at(v), bottom + 10]);
  const marks = [];
  if (heights) {
    const most = Math.max(...heights);
    const path = [at(-limit), bottom];
    points.forEach((p, i) =>
      path.push(at(p), bottom - (heights[i] / most) * (bottom - top) * 0.92),
    );
    path.push(at(limit), bottom);
    marks.push(lines([path], null, 0, { fill: theme.cloud }));
  }
  if (rug.length) marks.push(lines(rug, theme.rug, 1.5, { alpha: 0.75 }));
  return marks;
}

/** The centre, which separates the sides: a line with gaps where names stand. */
function centreMarks(x, top, bottom, gaps, theme) {
  if (!Number.isFinite(x)) return [];
  const paths = [];
  let from = top;
  for (const y of gaps.sort((a, b) => a - b)) {
    if (y - 7 > from) paths.push([x, from, x, y - 7]);
    from = Math.max(from, y + 7);
  }
  if (bottom > from) paths.push([x, from, x, bottom]);
  return [lines(paths, theme.soft, 1.25, { dash: [4, 3] })];
}

/** Line, numbers and unit below. */
function scaleMarks(limit, at, bottom, width, theme, unit) {
  const half = limit >= 3 ? Math.round(limit / 2) : limit / 2;
  const ticks = [-limit, -half, 0, half, limit];
  const marks = [lines([[at(-limit), bottom + 12, at(limit), bottom + 12]], theme.soft, 1)];
  for (const v of ticks) {
    const anchor = v === -limit ? "start" : v === limit ? "end" : "middle";
    marks.push(lines([[at(v), bottom + 12, at(v), bottom + 16]], theme.soft, 1));
    marks.push(text(at(v), bottom + 28, signed(v), theme.soft, { size: 11, anchor }));
  }
  if (unit)
    marks.push(text(width / 2, bottom + 43, unit, theme.soft, { size: 11, anchor: "middle" }));
  return marks;
}

/** Concepts by label: a triangle that points to its pole, hollow on the other side of the centre. */
function conceptMark(x, y, label, value, centre, theme, small) {
  const colour = theme.labelled[label ?? 0];
  const right = !label || Math.sign(value - centre) === label;
  const look = { fill: right ? colour : theme.paper };
  const [stroke, width] = right ? [theme.paper, 1] : [colour, 1.75];
  const r = small ? 3.5 : 4.5;
  if (!label) return dot(x, y, r, look.fill, { stroke, width });
  const [tip, back] = [x + label * r * 1.25, x - label * r];
  return lines([[tip, y, back, y - r, back, y + r, tip, y]], stroke, width, look);
}

/** The words at both ends, which point where the pole lies. */
function poleMarks(poles, width, theme) {
  const look = { size: 14, weight: 600 };
  const fit = (words) => fitted(words, width / 2 - 30, 14, theme.font, 600);
  return [
    text(SIDE - 4, 16, `← \u2068${fit(poles[0])}\u2069`, theme.ink, look),
    text(width - SIDE + 4, 16, `\u2068${fit(poles[1])}\u2069 →`, theme.ink, {
      ...look,
      anchor: "end",
    }),
  ];
}

/** The strip of one model: its marks, height, and where each concept can be pointed at. */
function stripMarks(shown, concepts, place) {
  const { width, limit, theme, memory } = place;
  const n = laneCount(concepts, width, theme.font);
  const at = (v) => SIDE + ((v / limit + 1) / 2) * (width - 2 * SIDE);
  const lane = Math.max(LANE[0], Math.min(LANE[1], 250 / n.named));
  const top = 26;
  const floor = top + n.named * lane;
  const bottom = floor + n.dots * DOTS;
  const centre = shown.positions.centre;
  const marks = cloudMarks(shown.values.subarray(concepts.length), limit, at, top, bottom, theme);
  marks.push(...scaleMarks(limit, at, bottom, width, theme, place.unit));
  marks.push(...poleMarks(place.poles, width, theme));
  const spots = placed(concepts, shown.values, at, n, width, theme.font, memory);
  const hits = spots.map((spot) => ({
    ...spot,
    y: spot.named ? floor - (spot.lane + 0.5) * lane : floor + (spot.lane + 0.5) * DOTS,
  }));
  const crossing = hits.filter(({ from, to }) => from < at(centre) && at(centre) < to);
  const gaps = crossing.map((hit) => hit.y);
  marks.push(...centreMarks(at(centre), top, bottom + 12, gaps, theme));
  if (shown.interval) marks.push(...whiskerMarks(hits, shown.interval, limit, at, theme));
  for (const { i, x, y, side, named } of hits) {
    marks.push(conceptMark(x, y, concepts[i].label, shown.values[i], centre, theme, !named));
    if (!named) continue;
    const look = { size: NAME, anchor: side > 0 ? "start" : "end" };
    marks.push(text(x + side * 10, y + 4, nameOf(concepts[i]), theme.ink, look));
  }
  return { marks, height: bottom + (place.unit ? 50 : 34), hits };
}

/** Intervals of the concepts that have names, each below its mark, or where there is room. */
function whiskerMarks(hits, interval, limit, at, theme) {
  const paths = [];
  const taken = []; // [height, from, to]: no two intervals on one line
  const named = hits.filter((hit) => hit.named).sort((a, b) => interval[2 * a.i] - interval[2 * b.i]);
  for (const { i, y } of named) {
    const [low, high] = [interval[2 * i], interval[2 * i + 1]];
    if (!(high > low)) continue;
    const [from, to] = [at(Math.max(low, -limit)), at(Math.min(high, limit))];
    const free = (line) => taken.every(([other, a, b]) => other !== line || b + 2 < from || a > to + 2);
    const line = LINES.map((offset) => y + offset).find(free) ?? y + LINES[0];
    taken.push([line, from, to]);
    paths.push([from, line - 2.5, from, line + 2.5], [from, line, to, line]);
    paths.push([to, line - 2.5, to, line + 2.5]);
  }
  return paths.length ? [lines(paths, theme.soft, 1, { alpha: 0.6 })] : [];
}

/** The strip of a single head, dots only. */
function headStripMarks(shown, concepts, place) {
  const { width, limit, theme } = place;
  const at = (v) => SIDE + ((v / limit + 1) / 2) * (width - 2 * SIDE);
  const marks = [
    text(SIDE - 4, 14, fitted(place.title, width - 12, 12, theme.font, 600), theme.ink, {
      weight: 600,
    }),
  ];
  const [top, bottom] = [22, 46];
  marks.push(...cloudMarks(shown.values.subarray(concepts.length), limit, at, top, bottom, theme));
  const centre = shown.positions.centre;
  marks.push(...centreMarks(at(centre), top, bottom + 12, [], theme));
  marks.push(...scaleMarks(limit, at, bottom, width, theme, ""));
  concepts.forEach((concept, i) => {
    const v = shown.values[i];
    if (!Number.isFinite(v)) return;
    const y = (top + bottom) / 2 + ((i * 7) % 15) - 7; // spread a little, so that dots are told apart
    marks.push({ ...conceptMark(at(v), y, concept.label, v, centre, theme, true), alpha: 0.85 });
  });
  return { marks, height: bottom + 34 };
}

/** What the marks mean, broken where the width ends. */
function legendMarks(has, width, theme, top) {
  const entries = [];
  const sample = (label, value) => (x, y) => [conceptMark(x + 5, y - 4, label, value, 0, theme)];
  if (has.labels) {
    entries.push(
      [`held to be + ${has.dimension}`, sample(1, 1)],
      [`held to be − ${has.dimension}`, sample(-1, -1)],
    );
    entries.push(["hollow: on the other side of the centre", sample(1, -1)]);
  }
  if (has.plain)
    entries.push([has.labels ? "concept without a label" : "concept", sample(null, 1)]);
  if (has.reference) {
    const cloud = (x, y) => [
      rect(x, y - 9, 11, 10, theme.cloud),
      lines(
        [
          [x + 3, y - 6, x + 3, y + 1],
          [x + 8, y - 6, x + 8, y + 1],
        ],
        theme.rug,
        1.5,
      ),
    ];
    entries.push([`reference phrases, n = ${whole(has.reference)}`, cloud]);
  }
  if (has.interval)
    entries.push([
      "95 % interval over heads only",
      (x, y) => [
        lines(
          [
            [x, y - 6, x, y - 1],
            [x, y - 3.5, x + 11, y - 3.5],
            [x + 11, y - 6, x + 11, y - 1],
          ],
          theme.soft,
          1,
        ),
      ],
    ]);
  const marks = [];
  let [x, y] = [SIDE - 4, top + 12];
  for (const [words, draw] of entries) {
    const room = textWidth(words, 11, theme.font) + 16;
    if (x > SIDE && x + room > width) [x, y] = [SIDE - 4, y + 17];
    marks.push(...draw(x, y), text(x + 16, y, words, theme.soft, { size: 11 }));
    x += room + 14;
  }
  return { marks, height: entries.length ? y + 8 - top : 0 };
}
