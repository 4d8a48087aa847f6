// Steps that a reader takes, counted so that none is lost.
//
// While Python is at work, only the newest of what a component sends is kept for it. So what is
// sent is how many steps there have been since the page was loaded, and Python takes those that it
// has not taken before. It is sent again only when Python has answered: runs that stop one another
// would draw nothing.

const tallies = {}; // by name; they stay when a component is drawn anew
const PATIENCE = 1500; // ms until the next count is sent to a page that does not answer

function tallyOf(name) {
  return (tallies[name] ??= {
    since: `${Date.now()} ${Math.random()}`, // tells this page from one that is loaded later
    turn: 0,
    made: 0,
    sent: 0,
    taken: 0,
    waiting: 0,
  });
}

/** Take what Python says: the place it has come to, of how many, and the steps it has taken. */
function answered(tally, owner, send, { place, n, taken }) {
  const anew = tally.owner !== owner;
  Object.assign(tally, { owner, send, place, n });
  if (taken?.since === tally.since) tally.taken = taken.made;
  if (anew && tally.waiting) tally.sent = tally.taken; // sent to a page that was being left
  else if (anew) tally.made = tally.sent = tally.taken;
  if (tally.taken === tally.sent) stopWaiting(tally);
}

/** Count a step where there is somewhere to go; whether there was. */
function step(tally, by) {
  const possible = canStep(tally, by);
  if (possible) tally.made += by;
  tell(tally);
  return possible;
}

function canStep(tally, by) {
  const place = tally.place + tally.made - tally.taken + by;
  return place >= 0 && place < tally.n;
}

function tell(tally) {
  if (tally.waiting || tally.made === tally.sent) return;
  tally.sent = tally.made;
  tally.turn += 1;
  tally.waiting = setTimeout(() => stopWaiting(tally), PATIENCE);
  const { since, turn, made, taken } = tally;
  tally.send("steps", { since, turn, made, taken });
}

function stopWaiting(tally) {
  clearTimeout(tally.waiting);
  tally.waiting = 0;
  tell(tally);
}
