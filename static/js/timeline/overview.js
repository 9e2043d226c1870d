// The whole time in 40 px: how much was heard, where findings lie, and a window that can be moved, drawn anew or pulled wider.

import { emptied, node } from "./shapes.js";

const HEIGHT = 40, EDGE = 8;

function amounts(doc, whole, width) {
  const sums = new Float64Array(Math.max(1, Math.ceil(width / 3)));
  const origin = Date.parse(doc.from), span = whole.to - whole.from;
  for (const band of doc.bands) {
    for (let i = 0; i < band.t.length; i++) {
      const place = Math.floor(((origin + band.t[i] - whole.from) / span) * sums.length);
      if (place >= 0 && place < sums.length) sums[place] += band.n[i];
    }
  }
  return sums;
}

function hill(sums, left) {
  const most = Math.log10(Math.max(...sums) + 1) || 1;
  const tops = [...sums].map((sum, place) => `L${left + place * 3} ${(HEIGHT - 4 - (Math.log10(sum + 1) / most) * (HEIGHT - 12)).toFixed(1)}`);
  return `M${left} ${HEIGHT - 4}${tops.join("")}L${left + sums.length * 3} ${HEIGHT - 4}Z`;
}

export function drawOverview(svg, doc, frame) {
  const { whole, left, right, range } = frame;
  const x = (at) => left + ((at - whole.from) / (whole.to - whole.from)) * (right - left);
  const origin = Date.parse(doc.from);
  const ticks = doc.findings.map((one) => `M${x(origin + one.at_ms).toFixed(1)} 2v6`).join("");
  const [from, to] = [x(range.from), Math.max(x(range.from) + 3, x(range.to))];
  emptied(svg).append(
    node("rect", { x: left, y: 0, width: right - left, height: HEIGHT, class: "ground" }),
    node("path", { d: hill(amounts(doc, whole, right - left), left), class: "hill" }),
    node("path", { d: ticks, class: "ticks-of-findings" }),
    node("rect", { x: from, y: 1, width: to - from, height: HEIGHT - 2, class: "window" }),
    node("path", { d: `M${from} 12v16M${to} 12v16`, class: "handles" }),
  );
}

// What a press takes hold of: an edge of the window, the window itself, or empty ground, where a new one is drawn.
function grip(at, from, to) {
  if (Math.abs(at - from) <= EDGE) return "from";
  if (Math.abs(at - to) <= EDGE) return "to";
  return at > from && at < to ? "window" : "new";
}

function moved(held, at, frame) {
  const { from, to } = held.range;
  const by = at - held.at;
  if (held.grip === "from") return [Math.min(at, to), to];
  if (held.grip === "to") return [from, Math.max(at, from)];
  if (held.grip === "new") return [Math.min(held.at, at), Math.max(held.at, at)];
  const inside = Math.max(frame.whole.from - from, Math.min(frame.whole.to - to, by));
  return [from + inside, to + inside];
}

export function brush(svg, frameOf, choose) {
  let held = null;
  const timeAt = (event, frame) => {
    const x = event.clientX - svg.getBoundingClientRect().left;
    const share = Math.min(1, Math.max(0, (x - frame.left) / (frame.right - frame.left)));
    return frame.whole.from + share * (frame.whole.to - frame.whole.from);
  };
  svg.addEventListener("pointerdown", (event) => {
    const frame = frameOf();
    const x = (at) => frame.left + ((at - frame.whole.from) / (frame.whole.to - frame.whole.from)) * (frame.right - frame.left);
    const place = event.clientX - svg.getBoundingClientRect().left;
    held = { grip: grip(place, x(frame.range.from), x(frame.range.to)), at: timeAt(event, frame), range: { ...frame.range } };
    svg.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  svg.addEventListener("pointermove", (event) => {
    if (!held) return;
    const frame = frameOf();
    const [from, to] = moved(held, timeAt(event, frame), frame);
    if (to - from > 0) choose(from, to);
  });
  for (const name of ["pointerup", "pointercancel"]) svg.addEventListener(name, () => (held = null));
}
