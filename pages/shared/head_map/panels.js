// The pieces of the page: canvases, tiles of numbers, the box beside the pointer.

function makePanel(into, kind, role, layered) {
  const element = document.createElement("div");
  element.className = `panel ${kind}`;
  element.setAttribute("role", role);
  const canvases = (layered ? ["under", "over"] : ["under"]).map((name) => {
    const canvas = document.createElement("canvas");
    canvas.className = name;
    canvas.setAttribute("aria-hidden", "true");
    element.append(canvas);
    return { canvas, context: canvas.getContext("2d"), marks: [] };
  });
  into.append(element);
  return { element, layers: canvases, width: 0, height: 0, empty: false };
}

/** Draw marks on a layer of a panel; the canvas has as many pixels as the screen shows. */
function show(panel, layer, marks, height, theme) {
  const { canvas, context } = panel.layers[layer];
  const scale = window.devicePixelRatio || 1;
  const [w, h] = [Math.round(panel.width * scale), Math.round(height * scale)];
  if (canvas.width !== w || canvas.height !== h) {
    [canvas.width, canvas.height] = [w, h];
    canvas.style.width = `${panel.width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, panel.width, height);
  paint(context, marks, theme.font);
  panel.layers[layer].marks = marks;
  panel.height = height;
}

/** Panels for these models: one grid, or two beside each other; a strip for each model. */
function buildPanels(map) {
  const { maps, strips } = map.parts;
  const two = map.data.mode === "side by side";
  map.root.classList.toggle("two", two);
  map.root.classList.toggle("two-models", map.models.length > 1);
  maps.replaceChildren();
  strips.replaceChildren();
  const grids = (two ? map.models : map.models.slice(0, 1)).map(() =>
    makePanel(maps, "grid", "application", true),
  );
  const bar = makePanel(maps, "bar across", "img", false);
  const rows = map.models.map(() => makePanel(strips, "strip", "img", false));
  const legend = makePanel(strips, "legend across", "img", false);
  const single = makePanel(strips, "single across", "img", false);
  for (const grid of grids) {
    grid.element.tabIndex = 0;
    grid.element.setAttribute("aria-roledescription", "grid of heads");
  }
  map.panels = { grids, bar, strips: rows, legend, single };
  buildTiles(map);
}

const TILES = ["Heads selected", "Concepts against reference phrases", "Positions as labelled"];

function buildTiles(map) {
  map.tiles = [];
  map.parts.tiles.replaceChildren();
  for (const title of TILES) {
    const tile = document.createElement("div");
    tile.className = "tile";
    tile.append(Object.assign(document.createElement("h4"), { textContent: title }));
    const rows = map.models.map((model) => {
      const [of, value, note] = ["of", "value", "note"].map((name) => {
        const line = Object.assign(document.createElement("div"), { className: name });
        tile.append(line);
        return line;
      });
      if (map.models.length > 1) of.textContent = model.name;
      return { value, note };
    });
    map.parts.tiles.append(tile);
    map.tiles.push(rows);
  }
}

function put(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

/** The numbers of every model, in words. */
function fillTiles(map, shown) {
  shown.forEach((one, i) => {
    const model = map.models[i];
    const outside = {
      value: "undefined",
      note: model.reason || "the selection lies outside of this model's heads",
    };
    const words = one
      ? [headsWords(one, model), ksWords(one, map.preview), positionWords(one)]
      : [outside, { value: "undefined", note: "" }, { value: "undefined", note: "" }];
    words.forEach(({ value, note }, t) => {
      const row = map.tiles[t][i];
      put(row.value, value);
      row.value.classList.toggle("none", value === "undefined");
      put(row.note, note);
    });
  });
  map.root.classList.toggle("previewed", map.preview);
  map.parts.state.classList.toggle("preview", map.preview);
  put(map.parts.state, map.preview ? "preview" : "computed");
}

/** The box beside the pointer: everything about one concept. */
function showTip(map, panel, hit, shown) {
  const { tip } = map.parts;
  tip.hidden = !hit;
  if (!hit) return;
  const concept = map.data.concepts[hit.i];
  const name = Object.assign(document.createElement("bdi"), { textContent: concept.text });
  const interval = shown.interval ? [shown.interval[2 * hit.i], shown.interval[2 * hit.i + 1]] : [];
  const range = Number.isFinite(interval[0])
    ? ` [${fixed(interval[0], 2)}, ${fixed(interval[1], 2)} over heads only]`
    : "";
  const held = concept.label
    ? `, held to be ${concept.label > 0 ? "+" : "−"} ${map.data.dimension}`
    : "";
  const words = `${fixed(shown.values[hit.i], 3)}${range}, mean z of ${plural(shown.heads.length, "head")}${held}`;
  tip.replaceChildren(name, words);
  const [at, frame] = [panel.element.getBoundingClientRect(), map.root.getBoundingClientRect()];
  const left = at.left - frame.left + hit.x + 12;
  tip.style.left = `${Math.max(0, Math.min(left, frame.width - 262))}px`;
  tip.style.top = `${at.top - frame.top + hit.y + 14}px`;
}

/** The concept whose dot or name is under a point. */
function hitAt(panel, x, y) {
  let nearest = null;
  let least = 12;
  for (const hit of panel.hits ?? []) {
    const away = Math.hypot(Math.max(hit.from - x, 0, x - hit.to), y - hit.y);
    if (away < least) [nearest, least] = [hit, away];
  }
  return nearest;
}
