// One frame: grids and their scale when something about them has changed, the selection and strips always.

const MOST = { wide: 420, narrow: 340 }; // px of a grid's height

function draw(map) {
  if (map.dirty) {
    measure(map);
    drawGrids(map);
    map.dirty = false;
  }
  map.shown = map.models.map((model) => {
    if (map.preview) return previewOf(map.choice, model, map.labels);
    return model.truth && { ...model.truth, heads: headsOf(map.choice, model)?.heads ?? [] };
  });
  drawChosen(map);
  drawStrips(map);
  drawSingle(map);
  fillTiles(map, map.shown);
  describe(map);
}

function measure(map) {
  map.theme = themeOf(map.host);
  map.root.style.colorScheme = map.theme.mode; // of the slider and the field
  const { grids, bar, strips, legend, single } = map.panels;
  const all = [...grids, bar, ...strips, legend, single];
  for (const panel of all) panel.width = panel.element.clientWidth;
  const two = map.data.mode === "side by side";
  const most = map.root.clientWidth < 720 || two ? MOST.narrow : MOST.wide;
  grids.forEach(
    (grid, i) =>
      (grid.place = gridPlace(map.models[i], grid.width, most, two ? map.models[i].name : "")),
  );
}

function drawGrids(map) {
  const { grids, bar } = map.panels;
  const scale = scaleOf(map);
  grids.forEach((grid, i) => {
    const colourOf = (head) => {
      const value = scale.value(i, head);
      return Number.isFinite(value) ? scale.shade(scale.share(value)) : null;
    };
    const marks = gridMarks(grid.place, colourOf, map.theme);
    show(grid, 0, marks, grid.place.height, map.theme);
  });
  const { marks, height } = barMarks(scale, bar.width, map.theme);
  show(bar, 0, marks, height, map.theme);
  bar.element.setAttribute("aria-label", [scale.title, ...scale.chanceWords].join(". "));
}

/** The outline of what is chosen, and the cell under the cursor. */
function drawChosen(map) {
  map.panels.grids.forEach((grid, i) => {
    const chosen = headsOf(map.choice, map.models[i]);
    const marks = [];
    if (chosen && map.choice.box) marks.push(...boxMarks(grid.place, map.choice.box));
    else if (chosen && !map.choice.all) marks.push(...outlineMarks(grid.place, chosen.heads));
    const at = map.cursor ?? (map.hover?.model === i ? map.hover : null);
    const { layers, heads } = map.models[i];
    if (at && at.cell[0] < layers && at.cell[1] < heads)
      marks.push(...cursorMarks(grid.place, at.cell, map.theme));
    show(grid, 1, marks, grid.place.height, map.theme);
  });
}

function drawStrips(map) {
  const { strips, legend } = map.panels;
  const { data, theme } = map;
  const concepts = data.concepts;
  const limit = limitOf(...map.shown.filter(Boolean).map((one) => one.values));
  // While dragging the axis shrinks only where much room is lost, so that movements can be followed.
  map.limit = map.dragging && limit < map.limit && limit > 0.5 * map.limit ? map.limit : limit;
  strips.forEach((strip, i) => {
    const one = map.shown[i];
    const place = {
      width: strip.width,
      limit: map.limit,
      theme,
      memory: map.memories[i],
      poles: data.axis.poles,
    };
    place.unit =
      strip.width < 420
        ? "mean z over heads"
        : "mean z over heads (standard deviations of all phrases)";
    const drawn = one
      ? stripMarks(one, concepts, place)
      : missingMarks(sentenceOf(one, map.models[i]), strip.width, theme);
    const named =
      map.models.length > 1 ? heading(drawn, map.models[i].name, strip.width, theme) : drawn;
    strip.hits = named.hits;
    show(strip, 0, named.marks, named.height, theme);
  });
  const unnamed = unnamedWords(map) && `${unnamedWords(map)} Pointing at a mark names it.`;
  put(map.parts.drawn, [drawnWords(data), unnamed].filter(Boolean).join(" "));
  const has = {
    labels: map.labels.some(Boolean),
    plain: map.labels.some((label) => !label),
    dimension: data.dimension,
    reference: data.reference.length,
    interval: map.shown.some((one) => one?.interval?.some(Number.isFinite)),
  };
  drawOnce(legend, JSON.stringify([has, legend.width, theme]), () => {
    const { marks, height } = legendMarks(has, legend.width, theme, 0);
    show(legend, 0, marks, Math.max(height, legend.height), theme); // the page does not jump
  });
}

/** Draw a panel only if what it shows has changed. */
function drawOnce(panel, key, act) {
  if (panel.key !== key) act();
  panel.key = key;
}

/** A strip with the model's name above. */
function heading(drawn, name, width, theme) {
  const title = text(SIDE - 4, 15, fitted(name, width - 20, 13, theme.font, 600), theme.soft, {
    size: 13,
    weight: 600,
  });
  const hits = (drawn.hits ?? []).map((hit) => ({ ...hit, y: hit.y + 22 }));
  return { marks: [title, ...moved(drawn.marks, 0, 22)], height: drawn.height + 22, hits };
}

function missingMarks(words, width, theme) {
  const rows = wrapped(words, width - 2 * SIDE, 13, theme.font);
  return {
    marks: rows.map((row, i) => text(SIDE, 40 + 18 * i, row, theme.soft, { size: 13 })),
    height: 60 + 18 * rows.length,
  };
}

/** One head in words: where it is, its R and the chance level. */
function singleWords(map, at, head) {
  const model = map.models[at];
  const place = `Layer ${Math.floor(head / model.heads)}, head ${head % model.heads}`;
  const other =
    map.data.mode === "difference"
      ? ` in ${model.name}, ${fixed(map.models[1].r[head], 3)} in ${map.models[1].name}`
      : "";
  const chance = Number.isFinite(model.chance) ? `; chance level ${fixed(model.chance, 3)}` : "";
  return model.alive[head]
    ? `${place} alone: R = ${fixed(model.r[head], 3)}${other}${chance}`
    : `${place}: no variance, so no direction`;
}

function drawSingle(map) {
  const { single } = map.panels;
  const { theme } = map;
  const at = map.hover ?? map.cursor;
  const model = map.models[at?.model ?? 0];
  const head = at && at.cell[0] * model.heads + at.cell[1];
  single.empty = !at;
  drawOnce(single, JSON.stringify([at, single.width, theme, map.version]), () =>
    showSingle(map, at, model, head),
  );
}

function showSingle(map, at, model, head) {
  const { single } = map.panels;
  const { theme } = map;
  let marks = [text(SIDE - 4, 14, "Point at a head to see it alone.", theme.soft, { size: 12 })];
  if (at && !model.alive[head])
    marks = [text(SIDE - 4, 14, singleWords(map, at.model, head), theme.ink, { weight: 600 })];
  else if (at) {
    const one = previewOf({ box: [...at.cell, ...at.cell] }, model, map.labels);
    const place = { width: single.width, limit: limitOf(one.values), theme };
    const ks = Number.isFinite(one.ks.statistic) ? `; D = ${fixed(one.ks.statistic, 2)}` : "";
    place.title = `${singleWords(map, at.model, head)}${ks}`;
    marks = headStripMarks(one, map.data.concepts, place).marks;
  }
  show(single, 0, marks, 80, theme);
}
