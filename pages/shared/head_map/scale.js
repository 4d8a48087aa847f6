// How R is coloured: from 0 up, or around 0 for the difference of two models.
// A scale has colours and ticks at shares of 0 to 1, `share` of a value, and the chance levels.

const NICE = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50];

function scaleOf(map) {
  return map.data.mode === "difference" ? differenceScale(map) : separabilityScale(map);
}

const largest = (values) => values.reduce((most, v) => (v > most ? v : most), 0); // NaN is passed over

/** By the square root, which is the poles' distance in units of spread: low R are told apart. */
function separabilityScale(map) {
  const known = map.models.filter((model) => Number.isFinite(model.chance));
  const high = largest(map.models.flatMap((model) => [largest(model.r), model.chance])) || 1;
  const share = (v) => Math.sqrt(Math.max(0, v) / high);
  const ticks = [0, high];
  for (const v of NICE) {
    if (v < high && ticks.every((tick) => Math.abs(share(tick) - share(v)) > 0.13)) ticks.push(v);
  }
  const words = known.map((model) => chanceOf(model, known.length > 1));
  return {
    title: "Separability R of a head, coloured by its square root",
    shade: (at) => shade(VIRIDIS, at),
    value: (i, head) => map.models[i].r[head],
    ...{ share, ticks },
    chance: known.map((model) => model.chance),
    chanceWords: known.length ? words : ["chance level not known for half of the templates"],
  };
}

function chanceOf(model, named) {
  const n = model.layers * model.heads;
  const byChance = Math.round(0.05 * n); // what 95 % of the heads stay below
  const above = `${whole(model.nAbove)} of ${plural(n, "head")} above (by chance ${byChance})`;
  return `${named ? `${model.name}: ` : ""}chance level ${fixed(model.chance, 3)}, ${above}`;
}

function differenceScale(map) {
  const [a, b] = map.models;
  const most = largest(a.r.map((v, i) => Math.abs(v - b.r[i]))) || 1;
  const { width } = map.panels.bar;
  return {
    title: fitted(`R of ${a.name} less R of ${b.name}`, width - 40, 12, map.theme.font, 600),
    shade: (at) => shade(DIVERGING, at),
    value: (_, head) => a.r[head] - b.r[head],
    share: (v) => (v / most + 1) / 2,
    ticks: [-most, 0, most],
    chance: [], // that of R is none of a difference, in which its bias cancels
    chanceWords: [],
  };
}
