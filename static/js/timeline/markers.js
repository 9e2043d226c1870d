// Findings on the chart: by shape, letter and colour. Those of one kind that lie closer than 12 px are one marker with a count.

import { heightOfId, TITLE } from "./layout.js";
import { phaseNames } from "./phases.js";
import { emptied, mark, node, seen, titled } from "./shapes.js";

// Above `TOP` stand the names of phases.
const CLOSE = 12, ROOM = 20, TOP = 22, LETTER = 6.6;

const rowOf = (rows, finding) => rows.find((row) => row.bands.some((band) => band.id === finding.band));

function place(finding, frame) {
  const row = rowOf(frame.rows, finding);
  const x = frame.x(frame.origin + finding.at_ms);
  if (!row) return { x, y: frame.top - 12, row: null };
  if (frame.saw) return { x, y: frame.saw.y(Number(finding.event_id ?? row.least)), row };
  const y = finding.event_id === null ? row.top + row.height / 2 : heightOfId(row, finding.event_id);
  return { x, y: Math.min(row.top + row.height - 6, Math.max(row.top + TITLE + 8, y)), row };
}

// Findings come in order of time, so only the newest marker of each kind can be near enough.
export function merge(findings, frame) {
  const last = new Map(), found = [];
  for (const finding of findings) {
    const at = place(finding, frame);
    if (at.x < frame.left - 1 || at.x > frame.right + 1) continue;
    const key = `${finding.code} ${at.row?.key ?? ""}`;
    const near = last.get(key);
    if (near && at.x - near.end < CLOSE) {
      near.findings.push(finding);
      near.end = at.x;
    } else {
      const marker = { ...at, end: at.x, code: finding.code, findings: [finding] };
      last.set(key, marker);
      found.push(marker);
    }
  }
  return found;
}

// Two kinds at one place would hide each other; the later one moves aside within the chart.
function spread(markers, names, frame) {
  const taken = [];
  for (const marker of markers) {
    const isClear = (y) => names.every((one) => marker.x < one.x - 10 || marker.x > one.end + 10 || Math.abs(one.y - 4 - y) >= 16);
    const isFree = (y) => isClear(y) && taken.every((one) => Math.abs(one.x - marker.x) >= ROOM || Math.abs(one.y - y) >= ROOM - 3);
    const tries = [0, 18, -18, 36, -36, 54, -54].map((by) => marker.y + by).filter((y) => y > TOP && y < frame.bottom - 8);
    marker.y = tries.find(isFree) ?? marker.y;
    taken.push(marker);
  }
  return markers;
}

const toneOf = { critical: "bad", warning: "gap", note: "plain" };

function says(marker) {
  const [first] = marker.findings;
  const more = marker.findings.length - 1;
  return `${first.code}: ${first.sentence}${more ? ` And ${more} more of this kind close by.` : ""}`;
}

function drawn(marker, frame) {
  const [first] = marker.findings;
  const isChosen = marker.findings.some((one) => one.id === frame.finding);
  const link = node("a", {
    href: frame.findingUrl(first),
    class: `finding on-${toneOf[first.severity] ?? "plain"}${isChosen ? " chosen" : ""}`,
    "data-finding": first.id,
    "aria-label": seen(says(marker)),
    tabindex: "-1",
  });
  link.append(titled(says(marker)), mark(frame.shapes[first.code] ?? frame.shapes.other, marker.x, marker.y, first.letter, marker.findings.length));
  return link;
}

function cluster(one, frame) {
  const [left, right] = [frame.x(frame.origin + one.from_ms), frame.x(frame.origin + one.to_ms)];
  const group = node("g", { class: "cluster" }, titled(`${one.count} findings ${one.code}; zoom in to tell them apart`));
  group.append(node("rect", { x: left, y: frame.top - 20, width: Math.max(4, right - left), height: 8, rx: 4 }));
  return group;
}

// The name of each row that is in sight, at its left end or as far left of it as the edge asks for.
function named(frame) {
  const inSight = frame.rows.filter((row) => !frame.saw && frame.x(row.ended) >= frame.left && frame.x(row.born) <= frame.right);
  return inSight.map((row) => {
    const ids = `${row.least.toLocaleString("en")}…${row.greatest.toLocaleString("en")}`;
    const name = seen(row.label.length > 24 ? `${row.label.slice(0, 14)}…` : row.label);
    const whole = `${name} · ${ids}`;
    const text = whole.length * LETTER < frame.right - frame.left ? whole : name;
    const x = Math.max(frame.left + 4, Math.min(Math.max(frame.left, frame.x(row.born)) + 6, frame.right - text.length * LETTER));
    return { row, text, title: `${row.label}, ids ${ids}, ${row.count.toLocaleString("en")} messages`, x, end: x + text.length * LETTER, y: row.top + 13 };
  });
}

function label({ row, text, title, x, y }, frame) {
  const link = node("a", { href: frame.bandUrl(row), class: "band-name", "data-band": row.bands[0].id, tabindex: "-1" });
  link.append(titled(title), node("text", { x, y }, text));
  return link;
}

export function drawMarkers(svg, frame) {
  const names = named(frame);
  const markers = spread(merge(frame.findings, frame), names, frame);
  const clusters = frame.clusters.map((one) => cluster(one, frame));
  emptied(svg).append(...phaseNames(frame), ...clusters, ...markers.map((one) => drawn(one, frame)), ...names.map((one) => label(one, frame)));
  return markers;
}
