// Pointer, keyboard, slider and buttons: what each does to the selection.

function listen(map) {
  const { maps, strips, slider, exact, everything } = map.parts;
  for (const [name, act] of Object.entries({
    pointerdown,
    pointermove,
    pointerup,
    pointercancel,
    keydown,
  })) {
    maps.addEventListener(name, (event) => act(map, event));
  }
  maps.addEventListener("pointerleave", () => point(map, null));
  maps.addEventListener("focusout", () => moveCursor(map, null));
  for (const name of ["pointermove", "pointerdown"]) {
    strips.addEventListener(name, (event) => pointAtConcept(map, event));
  }
  strips.addEventListener("pointerleave", () => (map.parts.tip.hidden = true));
  slider.addEventListener("input", () => choose(map, { k: map.ks[slider.value] }));
  slider.addEventListener("change", () => release(map));
  exact.addEventListener("change", () => {
    const k = Math.round(Number(exact.value));
    if (exact.value.trim() && Number.isFinite(k)) {
      choose(map, { k: Math.max(1, Math.min(k, map.ks[map.ks.length - 1])) });
      release(map);
    }
    exact.value = map.choice.k ?? ""; // what is used, whatever was typed
  });
  everything.addEventListener("click", () => {
    choose(map, { all: true });
    release(map);
  });
  for (const button of map.root.querySelectorAll("[data-step]")) {
    button.addEventListener("click", () => step(map.tally, Number(button.dataset.step)));
  }
  for (const button of map.root.querySelectorAll("[data-file]")) {
    button.addEventListener("click", () => save(map, button.dataset.file));
  }
}

/** A selection that Python does not know yet. */
function choose(map, choice) {
  map.choice = choice;
  map.preview = true;
  schedule(map);
}

/** Hand the selection to Python. */
function release(map) {
  map.dragging = false;
  const words = choiceText(map.choice);
  if (words === map.data.choice) settle(map);
  else {
    map.pending = words;
    map.send("released", words);
    map.say = true;
  }
  schedule(map);
}

/** Take back what was not released. */
function cancel(map) {
  map.dragging = false;
  settle(map);
  schedule(map);
}

function cellOf(map, event) {
  const at = map.panels.grids.findIndex((grid) => grid.element.contains(event.target));
  if (at < 0) return null;
  const box = map.panels.grids[at].element.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const place = map.panels.grids[at].place;
  const { cw, ch, layers, heads } = place;
  const inside =
    x >= place.x - 4 && y >= 0 && x <= place.x + cw * heads + 4 && y <= place.y + ch * layers + 4;
  return { model: at, cell: cellAt(place, x, y), inside };
}

function pointerdown(map, event) {
  const found = cellOf(map, event);
  if (!found?.inside || event.button) return;
  const { element } = map.panels.grids[found.model];
  element.setPointerCapture(event.pointerId);
  map.dragging = true;
  map.anchor = found.cell;
  map.cursor = null;
  choose(map, { box: boxOf(found.cell, found.cell) });
}

function pointermove(map, event) {
  const found = cellOf(map, event);
  if (map.dragging && found) choose(map, { box: boxOf(map.anchor, found.cell) });
  if (event.pointerType === "mouse") point(map, found?.inside && !map.dragging ? found : null);
}

function pointerup(map) {
  if (map.dragging) release(map);
}

function pointercancel(map) {
  if (map.dragging) cancel(map);
}

/** The head under the pointer is shown alone. */
function point(map, found) {
  const same = found?.model === map.hover?.model && String(found?.cell) === String(map.hover?.cell);
  if (same) return;
  map.hover = found;
  schedule(map);
}

function pointAtConcept(map, event) {
  const at = map.panels.strips.findIndex((strip) => strip.element.contains(event.target));
  const panel = map.panels.strips[at];
  const box = panel?.element.getBoundingClientRect();
  const hit =
    panel && map.shown[at] ? hitAt(panel, event.clientX - box.left, event.clientY - box.top) : null;
  showTip(map, panel, hit, map.shown[at]);
}

const ARROWS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function keydown(map, event) {
  const arrow = ARROWS[event.key];
  const moving = event.ctrlKey || event.altKey || event.metaKey;
  if (arrow && event.shiftKey) extend(map, event, arrow);
  else if (arrow && moving) moveBy(map, event, arrow);
  else if (arrow && arrow[1]) step(map.tally, arrow[1]);
  else if (event.key === "Enter") enter(map);
  else if (event.key === "Escape") cancel(map);
  else return;
  event.preventDefault();
}

/** The cell beside the cursor, which begins where the last selection was made. */
function beside(map, event, [down, right]) {
  const { model } = cellOf(map, event) ?? { model: 0 };
  const { layers, heads } = map.models[model];
  const from = map.cursor?.cell ?? map.anchor ?? [0, 0];
  if (!map.cursor)
    return { model, cell: [Math.min(from[0], layers - 1), Math.min(from[1], heads - 1)] };
  const within = (v, n) => Math.max(0, Math.min(n - 1, v));
  return { model, cell: [within(from[0] + down, layers), within(from[1] + right, heads)] };
}

function moveBy(map, event, arrow) {
  const next = beside(map, event, arrow);
  map.anchor = next.cell;
  moveCursor(map, next);
  const head = next.cell[0] * map.models[next.model].heads + next.cell[1];
  map.parts.said.textContent = singleWords(map, next.model, head);
}

function extend(map, event, arrow) {
  map.cursor ??= beside(map, event, arrow);
  map.anchor ??= map.cursor.cell;
  moveCursor(map, beside(map, event, arrow));
  choose(map, { box: boxOf(map.anchor, map.cursor.cell) });
  map.parts.said.textContent = choiceWords(map.choice);
}

function moveCursor(map, cursor) {
  map.cursor = cursor;
  schedule(map);
}

/** Enter takes the rectangle, or the head under the cursor. */
function enter(map) {
  if (!map.preview && map.cursor) choose(map, { box: boxOf(map.cursor.cell, map.cursor.cell) });
  release(map);
}
