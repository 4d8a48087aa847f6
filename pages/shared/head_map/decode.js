// What Python sends, as typed arrays.

function bytesOf(encoded) {
  const letters = atob(encoded);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes.buffer;
}

/** The models of a message; arrays that have not changed are taken over from before. */
function modelsOf(data, before) {
  return data.models.map((sent, i) => {
    const old = before?.[i];
    const same =
      old &&
      old.sent.z === sent.z &&
      old.sent.order === sent.order &&
      old.sent.separability === sent.separability;
    return { ...(same ? old : arraysOf(sent, data)), ...headOf(sent), sent, truth: truthOf(sent) };
  });
}

function headOf(sent) {
  const { name, layers, heads, reason } = sent;
  return { name, layers, heads, reason, chance: sent.chance ?? NaN, nAbove: sent.n_above };
}

function arraysOf(sent, data) {
  const order = new Int32Array(bytesOf(sent.order)); // by R falling, those with a z
  const alive = new Uint8Array(sent.layers * sent.heads);
  for (const head of order) alive[head] = 1;
  return {
    r: new Float32Array(bytesOf(sent.separability)),
    z: new Float32Array(bytesOf(sent.z)),
    nPhrases: data.concepts.length + data.reference.length,
    order,
    alive,
    nDead: alive.length - order.length,
  };
}

/** Python's numbers in the shape of `previewOf`, without its heads; null where it has none. */
function truthOf(sent) {
  const n = sent.numbers;
  if (!n) return null;
  const or = (value) => value ?? NaN; // JSON has no NaN
  const ks = {
    statistic: or(n.statistic),
    pvalue: or(n.pvalue),
    method: n.method,
    reason: n.reason,
  };
  const positions = { accuracy: or(n.accuracy), majority: or(n.majority), centre: or(n.centre) };
  return {
    skipped: n.skipped,
    values: new Float64Array(bytesOf(n.values)),
    interval: new Float64Array(bytesOf(n.interval)),
    ks: { ...ks, nConcepts: n.n_concepts, nReference: n.n_reference },
    positions: { ...positions, nLabelled: n.n_labelled, reason: n.position_reason },
  };
}
