// Colours of the reader's theme, and the two scales: viridis for R, purple to orange for differences.

const VIRIDIS = [
  "#440154",
  "#482878",
  "#3e4989",
  "#31688e",
  "#26828e",
  "#1f9e89",
  "#35b779",
  "#6ece58",
  "#b5de2b",
  "#fde725",
];
// As in core.figures.colours.
const DIVERGING = [
  "#542788",
  "#8073ac",
  "#b2abd2",
  "#d8daeb",
  "#f7f7f7",
  "#fee0b6",
  "#fdb863",
  "#e08214",
  "#b35806",
];
// Of concepts by label, the same in light and dark: towards the positive pole, the negative, none.
const LABELLED = { 1: "#c4700f", "-1": "#7a6bb5", 0: "#787878" };

const channels = (colour) => [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));

function blend(from, to, share) {
  const [a, b] = [channels(from), channels(to)];
  return `#${a
    .map((v, i) =>
      Math.round(v + (b[i] - v) * share)
        .toString(16)
        .padStart(2, "0"),
    )
    .join("")}`;
}

const ramps = new Map();

/** Colour at a share of 0 to 1, of 256 steps. */
function shade(stops, share) {
  let ramp = ramps.get(stops);
  if (!ramp) {
    ramp = Array.from({ length: 256 }, (_, i) => {
      const at = (i / 255) * (stops.length - 1);
      const low = Math.min(Math.floor(at), stops.length - 2);
      return blend(stops[low], stops[low + 1], at - low);
    });
    ramps.set(stops, ramp);
  }
  return ramp[Math.round(Math.min(1, Math.max(0, share)) * 255)];
}

/** Any opaque CSS colour as #rrggbb. */
function plainColour(colour, otherwise) {
  const context = document.createElement("canvas").getContext("2d");
  context.fillStyle = otherwise;
  context.fillStyle = colour;
  return /^#[0-9a-f]{6}$/.test(context.fillStyle) ? context.fillStyle : otherwise;
}

/** What Streamlit's theme says, read from its variables. */
function themeOf(host) {
  const style = getComputedStyle(host);
  const of = (name) => style.getPropertyValue(`--st-${name}`).trim();
  const paper = plainColour(of("background-color"), "#ffffff");
  const ink = plainColour(of("text-color"), "#31333f");
  const [r, g, b] = channels(paper);
  const mode = 0.3 * r + 0.59 * g + 0.11 * b < 128 ? "dark" : "light";
  return {
    mode,
    paper,
    ink,
    soft: blend(ink, paper, 0.3), // secondary words, still readable
    faint: blend(ink, paper, 0.84),
    cloud: blend(ink, paper, 0.8),
    rug: blend(ink, paper, 0.45),
    accent: "#ffb000", // seen on every colour of both scales, with black around
    labelled: LABELLED,
    font: of("font") || "sans-serif",
  };
}
