// From one finding to the next, through the whole time and into clusters: what lies between is never skipped.

const starts = (item) => item.at ?? item.from;

// Findings and clusters of a document as one list in order of time; times are absolute milliseconds.
export function itemsOf(doc) {
  const origin = Date.parse(doc.from);
  const findings = doc.findings.map((finding) => ({ id: finding.id, at: origin + finding.at_ms, finding }));
  const clusters = (doc.clusters ?? []).map((one) => ({ id: `${one.code} ${one.from_ms}`, from: origin + one.from_ms, to: origin + one.to_ms, cluster: one }));
  return [...findings, ...clusters].sort((one, other) => starts(one) - starts(other) || (one.id < other.id ? -1 : 1));
}

// A finding as its own page tells of it, as an item of the list.
export function findingItem(doc) {
  return { id: doc.finding, at: Date.parse(doc.at), finding: { ...doc, id: doc.finding, event_id: doc.id } };
}

// The cluster that a finding lies in while it is not in the list itself.
export function clusterOf(items, item) {
  if (!item || items.some((one) => one.id === item.id)) return null;
  return items.find((one) => one.cluster?.code === item.finding.code && one.from <= item.at && item.at <= one.to) ?? null;
}

// The item after (by 1) or before (by -1) the chosen finding; if that is not in the list, of its time; without one, the first or
// last within the range.
export function stepFrom(items, chosen, by, range, at) {
  const place = items.findIndex((one) => one.id === chosen);
  if (place >= 0) return items[place + by] ?? null;
  if (chosen && at !== undefined) return (by > 0 ? items.find((one) => starts(one) > at) : items.findLast((one) => starts(one) < at)) ?? null;
  const inside = items.filter((one) => starts(one) >= range.from && starts(one) <= range.to);
  const among = inside.length ? inside : items;
  return (by > 0 ? among[0] : among[among.length - 1]) ?? null;
}

// A cluster that was opened gives its place to what was found in it; null when it cannot be taken apart.
export function opened(items, item, doc) {
  const inside = itemsOf(doc).filter((one) => !items.some((other) => other.id === one.id));
  const ofIt = inside.filter((one) => (one.finding ?? one.cluster).code === item.cluster.code && starts(one) >= item.from && starts(one) <= item.to);
  const place = items.indexOf(item);
  return ofIt.length ? [...items.slice(0, place), ...ofIt, ...items.slice(place + 1)] : null;
}
