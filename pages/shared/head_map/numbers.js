// What is shown before Python has answered: means over heads, KS and positions.
// The same rules as core.stats.probes, on the same float32 z, summed in float64.

const ROUNDING = 1e-12; // core.stats.known

/** "k128", "all", "rect:l0,h0,l1,h1" (inclusive) or "head:l,h"; null for another text. */
function parseChoice(text) {
  if (text === "all") return { all: true };
  if (/^k\d+$/.test(text)) return { k: Number(text.slice(1)) };
  const found = /^(rect|head):(\d+(?:,\d+)+)$/.exec(text);
  if (!found) return null;
  const n = found[2].split(",").map(Number);
  return { box: found[1] === "head" ? [n[0], n[1], n[0], n[1]] : n.slice(0, 4) };
}

function choiceText(choice) {
  if (choice.all) return "all";
  if (choice.k) return `k${choice.k}`;
  const [l0, h0, l1, h1] = choice.box;
  return l0 === l1 && h0 === h1 ? `head:${l0},${h0}` : `rect:${l0},${h0},${l1},${h1}`;
}

/** Rectangle with these two heads [layer, head] in its corners. */
function boxOf(a, b) {
  const [low, high] = [Math.min, Math.max];
  return [low(a[0], b[0]), low(a[1], b[1]), high(a[0], b[0]), high(a[1], b[1])];
}

/** Flat indices of the chosen heads that have a z, and how many have none; null outside the grid. */
function headsOf(choice, model) {
  if (choice.all) return { heads: model.order, skipped: model.nDead };
  if (choice.k) return { heads: model.order.subarray(0, choice.k), skipped: model.nDead };
  const [l0, h0, l1, h1] = choice.box;
  if (l1 >= model.layers || h1 >= model.heads) return null;
  const heads = [];
  for (let l = l0; l <= l1; l++) {
    for (let h = h0; h <= h1; h++)
      if (model.alive[l * model.heads + h]) heads.push(l * model.heads + h);
  }
  return { heads, skipped: (l1 - l0 + 1) * (h1 - h0 + 1) - heads.length };
}

/** Mean z (heads, n) over heads; NaN without any. Adding 1,024 x 300 numbers takes under 1 ms. */
function meanOver(heads, z, n) {
  const sums = new Float64Array(n);
  for (const head of heads) {
    const start = head * n;
    for (let i = 0; i < n; i++) sums[i] += z[start + i];
  }
  for (let i = 0; i < n; i++) sums[i] /= heads.length; // 0 / 0 is NaN
  return sums;
}

/** Kolmogorov-Smirnov D of the first nConcepts values against the rest, or the reason why not. */
function ksOf(values, nConcepts) {
  const places = [];
  let n1 = 0;
  for (let i = 0; i < values.length; i++) {
    if (!Number.isFinite(values[i])) continue;
    places.push(i);
    if (i < nConcepts) n1++;
  }
  const n2 = places.length - n1;
  const found = { statistic: NaN, nConcepts: n1, nReference: n2, reason: "" };
  if (!places.length) return { ...found, reason: "no head's output varies, or none is finite" };
  if (nConcepts === values.length) return { ...found, reason: "no reference set is chosen" };
  if (Math.min(n1, n2) < 2) return { ...found, reason: "too few phrases" };
  places.sort((a, b) => values[a] - values[b]);
  const low = values[places[0]];
  const high = values[places[places.length - 1]];
  if (high - low <= ROUNDING * Math.max(1, Math.abs(low), Math.abs(high))) {
    return { ...found, reason: "the projections do not vary" };
  }
  let walk = 0;
  let gap = 0;
  for (let at = 0; at < places.length; at++) {
    walk += places[at] < nConcepts ? n2 : -n1;
    // Equal values are looked at together.
    const ends = at + 1 === places.length || values[places[at + 1]] !== values[places[at]];
    if (ends) gap = Math.max(gap, Math.abs(walk));
  }
  return { ...found, statistic: gap / (n1 * n2) };
}

/** Mean of everything that is finite: where neither side begins. */
function centreOf(values) {
  let sum = 0;
  let n = 0;
  for (const value of values) {
    if (Number.isFinite(value)) {
      sum += value;
      n++;
    }
  }
  return sum / n;
}

/** Share of labelled concepts on the side of their label, and of the commoner label. */
function positionsOf(values, labels) {
  const centre = centreOf(values);
  let hits = 0;
  let positive = 0;
  let n = 0;
  let [low, high] = [Infinity, -Infinity];
  labels.forEach((label, i) => {
    if (!label || !Number.isFinite(values[i])) return;
    n++;
    if (label > 0) positive++;
    [low, high] = [Math.min(low, values[i] - centre), Math.max(high, values[i] - centre)];
    hits += (1 + Math.sign(values[i] - centre) * label) / 2;
  });
  const found = { accuracy: NaN, majority: NaN, nLabelled: n, centre, reason: "" };
  if (n < 2) return { ...found, reason: "fewer than two labelled concepts on this axis" };
  if (!positive || positive === n)
    return { ...found, reason: "all labels on this axis are the same" };
  if (high - low <= ROUNDING * Math.max(1, Math.abs(low), Math.abs(high))) {
    return { ...found, reason: "the projections do not vary" };
  }
  return { ...found, accuracy: hits / n, majority: Math.max(positive, n - positive) / n };
}

/** Everything the strip and the tiles show of one model; null where the choice is outside of it. */
function previewOf(choice, model, labels) {
  const chosen = headsOf(choice, model);
  if (!chosen) return null;
  const values = meanOver(chosen.heads, model.z, model.nPhrases);
  const ks = ksOf(values, labels.length);
  const positions = positionsOf(values, labels);
  return { ...chosen, values, ks, positions, interval: null };
}
