// Numbers and sentences, for the tiles, the screen reader and the saved picture alike.

const grouped = new Intl.NumberFormat("en-GB");
const whole = (n) => grouped.format(n);

/** A number with a minus sign, as short as it is exact: 0.5, −2. */
const signed = (v) => String(Math.round(v * 100) / 100).replace("-", "−");

const fixed = (v, digits) =>
  Number.isFinite(v) ? v.toFixed(digits).replace("-", "−") : "undefined";

const pWords = (p) =>
  !Number.isFinite(p) ? "p undefined" : p < 0.001 ? "p < 0.001" : `p = ${p.toFixed(3)}`;

const plural = (n, one) => `${whole(n)} ${one}${n === 1 ? "" : "s"}`;

/** Which heads are chosen: "top 128 heads by R", "layers 3 to 8, heads 2 to 9". */
function choiceWords(choice) {
  if (choice.all) return "all heads";
  if (choice.k)
    return choice.k === 1 ? "the head of highest R" : `top ${whole(choice.k)} heads by R`;
  const [l0, h0, l1, h1] = choice.box;
  const span = (one, a, b) => (a === b ? `${one} ${a}` : `${one}s ${a} to ${b}`);
  return `${span("layer", l0, l1)}, ${span("head", h0, h1)}`;
}

function headsWords(shown, model) {
  const left = shown.skipped ? `; ${whole(shown.skipped)} without variance left out` : "";
  return {
    value: whole(shown.heads.length),
    note: `of ${whole(model.layers * model.heads)} heads${left}`,
  };
}

function ksWords(shown, preview) {
  const { ks } = shown;
  const n = `${plural(ks.nConcepts, "concept")} against ${whole(ks.nReference)} reference phrases`;
  if (!Number.isFinite(ks.statistic)) return { value: "undefined", note: `${ks.reason}; ${n}` };
  const p = preview ? "p when released" : `${pWords(ks.pvalue)} (${ks.method})`;
  return { value: `D = ${fixed(ks.statistic, 3)}`, note: `${p}; ${n}` };
}

function positionWords(shown) {
  const { positions } = shown;
  if (!Number.isFinite(positions.accuracy)) {
    return {
      value: "undefined",
      note: `${positions.reason}; n\u00a0=\u00a0${whole(positions.nLabelled)}`,
    };
  }
  const guess = `the commoner label alone ${fixed(positions.majority, 2)}`;
  return {
    value: fixed(positions.accuracy, 2),
    note: `of ${plural(positions.nLabelled, "labelled concept")}; ${guess}`,
  };
}

/** That p is of heads that somebody chose; nothing for the usual ones, and for all there are. */
function caveatOf(choice, data) {
  const [{ layers, heads }] = data.models;
  const everything = choice.all || choice.k >= layers * heads;
  return everything || choiceText(choice) === data.usual ? "" : data.not_adjusted;
}

/** Heads and positions of a model in a sentence, beside one of Python's that has the test. */
function besideOf(shown, model) {
  const [heads, positions] = [headsWords(shown, model), positionWords(shown)];
  return (
    `${model.name}: ${heads.value} ${heads.note}. ` +
    `Positions as labelled: ${positions.value}, ${positions.note}.`
  );
}

/** All numbers of a model in sentences, the caveat last where there is a p. */
function sentenceOf(shown, model, preview, caveat = "") {
  if (!shown)
    return `${model.name}: ${model.reason || "the selection lies outside of this model's heads"}.`;
  const [heads, ks, positions] = [
    headsWords(shown, model),
    ksWords(shown, preview),
    positionWords(shown),
  ];
  return (
    `${model.name}: ${heads.value} ${heads.note}. ` +
    `Kolmogorov-Smirnov ${ks.value}, ${ks.note}. ` +
    `Positions as labelled: ${positions.value}, ${positions.note}.` +
    (caveat && Number.isFinite(shown.ks.statistic) ? ` ${caveat}` : "")
  );
}

/** The names at both ends of the strip, for those who do not see it. */
function endsWords(shown, concepts, poles) {
  const known = concepts
    .map((c, i) => [shown.values[i], c.text])
    .filter(([v]) => Number.isFinite(v));
  if (!known.length) return "No concept has a value.";
  known.sort((a, b) => a[0] - b[0]);
  const named = (list) => list.map(([v, name]) => `${name} ${fixed(v, 2)}`).join(", ");
  return (
    `Nearest to ${poles[0]}: ${named(known.slice(0, 3))}. ` +
    `Nearest to ${poles[1]}: ${named(known.slice(-3).reverse())}.`
  );
}

/** "showing 200 of 5,000 concepts", where not all are drawn. */
function drawnWords(data) {
  const parts = [];
  const drawn = [data.concepts.length, data.reference.length];
  if (data.n_concepts > drawn[0])
    parts.push(`${whole(drawn[0])} of ${whole(data.n_concepts)} concepts`);
  if (data.n_reference > drawn[1])
    parts.push(`${whole(drawn[1])} of ${whole(data.n_reference)} reference phrases`);
  return parts.length ? `Showing ${parts.join(" and ")}; a preview counts only these.` : "";
}

/** How many marks of a strip have no name beside them; nothing where all have one. */
function unnamedWords(map) {
  const parts = map.panels.strips.map(({ hits = [] }, i) => {
    const n = hits.filter((hit) => !hit.named).length;
    const of = map.models.length > 1 ? ` of ${map.models[i].name}` : "";
    return n ? `${whole(n)} of ${plural(hits.length, "concept")}${of} without a word` : "";
  });
  const said = parts.filter(Boolean).join(", ");
  return said ? `${said}, for space.` : "";
}

const KEYS =
  "Arrow left and right: previous and next axis. With Ctrl or Alt, arrows move from head to head; " +
  "with Shift they draw a rectangle. Enter takes it, Escape takes it back.";

/** Words for those who do not see the drawing, and the handles in their places. */
function describe(map) {
  const { slider, exact, said } = map.parts;
  const { k } = map.choice;
  const place = k ? map.ks.findLastIndex((count) => count <= k) : 0;
  slider.value = map.choice.all ? map.ks.length - 1 : place;
  slider.classList.toggle("unused", !k);
  slider.setAttribute("aria-valuetext", k ? plural(k, "head") : "not in use");
  if (map.root.getRootNode().activeElement !== exact) exact.value = k ?? "";
  if (map.dragging) return; // words follow when it is over
  const caveat = caveatOf(map.choice, map.data);
  const words = map.shown.map((one, i) => sentenceOf(one, map.models[i], map.preview, caveat));
  map.sentences = words;
  const kind = map.preview ? "Preview" : "Computed";
  const poles = map.data.axis.poles;
  const all = `${kind}, ${poles.join(" to ")}, ${choiceWords(map.choice)}. ${words.join(" ")}`;
  map.panels.strips.forEach((strip, i) => {
    const ends = map.shown[i] ? endsWords(map.shown[i], map.data.concepts, poles) : "";
    strip.element.setAttribute("aria-label", `${words[i]} ${ends}`);
  });
  map.panels.grids.forEach((grid, i) => {
    grid.element.setAttribute("aria-label", `Heads of ${map.models[i].name}. ${all} ${KEYS}`);
  });
  if (map.say && !map.dragging) said.textContent = all;
  map.say = false;
}
