// The names of phases over the chart: each within its span, shortened or left out. What must not be overlooked comes first and
// may reach beyond a narrow span. The server's drawing places them by the same rule.

import { node, seen, titled } from "./shapes.js";

const LETTER = 5.9, EDGE = 3, APART = 8, LOUD = "bad";

function texts(label) {
  const [short] = label.split(",");
  return short === label ? [label] : [label, short];
}

function name(span, text, frame, placed) {
  const width = text.length * LETTER, isLoud = span.tone === LOUD;
  const own = Math.max(frame.left, span.x) + EDGE;
  let begin = isLoud ? Math.max(frame.left, Math.min(own, frame.right - width)) : own;
  for (const one of placed) if (begin < one.end + APART && one.x < begin + width + APART) begin = one.end + APART;
  const limit = isLoud ? frame.right : Math.min(frame.right, span.end);
  return begin + width <= limit + 0.1 ? { x: begin, end: begin + width, text, span } : null;
}

export function place(spans, frame) {
  let placed = [];
  const inOrder = [...spans].sort((one, other) => (one.tone !== LOUD) - (other.tone !== LOUD) || one.x - other.x);
  for (const span of inOrder) {
    const found = texts(span.label).reduce((known, text) => known ?? name(span, text, frame, placed), null);
    if (found) placed = [...placed, found].sort((one, other) => one.x - other.x);
  }
  return placed;
}

export function phaseNames(frame) {
  const spans = frame.phases.map((phase) => ({ ...phase, x: frame.x(frame.origin + phase.from_ms), end: frame.x(frame.origin + phase.to_ms) }));
  const inSight = spans.filter((span) => span.end > frame.left && span.x < frame.right);
  return place(inSight, frame).map(({ x, text, span }) => {
    const drawn = node("text", { x: x.toFixed(1), y: 10, class: `phase on-${span.tone}` }, titled(span.label));
    drawn.append(seen(text));
    return drawn;
  });
}
