// Two buttons, and the keys J and K wherever the reader is not typing.

const WAYS = { k: -1, j: 1 };
const TYPED = "textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range])";
let walk = null; // what the keys step through: the one drawn last

document.addEventListener("keydown", (event) => {
  const by = WAYS[letterOf(event)];
  if (!by || !walk?.root.isConnected || isForOthers(event)) return;
  event.preventDefault();
  go(walk, by);
});

export default function ({ data, parentElement, setStateValue }) {
  const root = parentElement.querySelector(".walk");
  const tally = tallyOf(data.name);
  answered(tally, root, setStateValue, data);
  walk = { root, tally };
  for (const button of buttonsOf(root)) {
    const by = Number(button.dataset.step);
    button.querySelector(".label").textContent = data.labels[by < 0 ? 0 : 1];
    button.title = data.hint;
    button.onclick = () => go({ root, tally }, by);
  }
  showPossible(root, tally);
}

const buttonsOf = (root) => root.querySelectorAll("[data-step]");

function go({ root, tally }, by) {
  step(tally, by);
  showPossible(root, tally);
}

function showPossible(root, tally) {
  for (const button of buttonsOf(root)) {
    button.ariaDisabled = String(!canStep(tally, Number(button.dataset.step)));
  }
}

/** The letter of a key; on keyboards of other scripts, the one that lies in its place. */
function letterOf({ key, code }) {
  return /^[a-z]$/i.test(key) ? key.toLowerCase() : code.replace("Key", "").toLowerCase();
}

function isForOthers(event) {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return true;
  return event.composedPath().some((part) => part.matches?.(TYPED));
}
