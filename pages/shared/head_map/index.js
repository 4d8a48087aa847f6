// Mounts the head map, takes what Python sends, and draws one frame at a time.

const mounted = new WeakMap();

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".head-map");
  let map = mounted.get(parentElement);
  if (map?.root !== root) {
    map = start(root, parentElement.host ?? parentElement);
    mounted.set(parentElement, map);
  }
  map.send = setTriggerValue;
  map.tally = tallyOf(data.walk.name);
  answered(map.tally, root, setStateValue, data.walk);
  update(map, data);
  const call = ++map.calls;
  return () => {
    if (map.calls !== call) return; // a later call has taken over
    map.sizes.disconnect();
    cancelAnimationFrame(map.frame);
    mounted.delete(parentElement);
  };
}

function start(root, host) {
  const names = [
    ".tiles",
    ".maps",
    ".strips",
    ".panels",
    ".slider",
    ".exact",
    ".everything",
    ".said",
    ".tip",
    ".drawn",
    ".captioned",
    ".state",
  ];
  const parts = Object.fromEntries(names.map((name) => [name.slice(1), root.querySelector(name)]));
  const map = {
    root,
    host,
    parts,
    calls: 0,
    version: 0,
    frame: 0,
    memories: [],
    pending: null,
  };
  Object.assign(map, { dragging: false, preview: false, hover: null, cursor: null, anchor: null });
  root.querySelector(".help p").textContent = KEYS;
  map.sizes = new ResizeObserver(() => redraw(map));
  map.sizes.observe(root);
  document.fonts.ready.then(() => {
    widths.clear(); // measured with another font
    redraw(map);
  });
  listen(map);
  return map;
}

function update(map, data) {
  const before = map.data;
  const other = before?.axis.id !== data.axis.id;
  const built = before && before.mode === data.mode && before.models.length === data.models.length;
  map.data = data;
  map.version += 1;
  map.models = modelsOf(data, map.models);
  map.labels = data.concepts.map((concept) => concept.label);
  if (!built) buildPanels(map);
  if (!built || shapes(map.models) !== map.shapes) {
    map.shapes = shapes(map.models);
    [map.hover, map.cursor, map.anchor] = [null, null, null]; // may lie outside of the new grids
  }
  if (other || !built) {
    map.memories = map.models.map(() => new Map());
    map.limit = 0;
  }
  const [negative, positive] = data.axis.poles;
  put(map.root.querySelector(".negative"), negative);
  put(map.root.querySelector(".positive"), positive);
  map.ks = counts(Math.min(...map.models.map((model) => model.layers * model.heads)));
  map.parts.slider.max = map.ks.length - 1;
  map.parts.exact.max = map.ks[map.ks.length - 1];
  // An answer to something older than what was released last is not taken for the selection.
  const stale =
    map.pending && !other && data.choice === before.choice && data.choice !== map.pending;
  if (!map.dragging && !stale) {
    map.say = map.pending !== null || (before && other);
    settle(map);
  }
  redraw(map);
}

const shapes = (models) => models.map(({ layers, heads }) => `${layers} x ${heads}`).join();

/** Show what Python has computed. */
function settle(map) {
  map.choice = parseChoice(map.data.choice) ?? { all: true };
  map.pending = null;
  map.preview = map.models.some((model) => !model.truth && !model.reason);
}

/** 1, 2, 3 ... then ever larger steps up to all heads; with the usual 128 among them. */
function counts(n) {
  const steps = Array.from({ length: 121 }, (_, i) => Math.round(n ** (i / 120)));
  const usual = n > 128 ? [128] : [];
  return [...new Set([...steps, ...usual])].sort((a, b) => a - b);
}

function redraw(map) {
  map.dirty = true;
  schedule(map);
}

function schedule(map) {
  map.frame ||= requestAnimationFrame(() => {
    map.frame = 0;
    if (map.data && map.root.clientWidth) draw(map);
  });
}
