// One strip for each replica below the bands: what it could vouch for, and what it answered to those who resumed.

import { emptied, node, seen, titled } from "./shapes.js";

export const STRIP = 30;
const BAR = 14;
const WORDS = { covered: "covered", cold: "cold: it had just begun", silent: "silent while others heard", unwatched: "not watched by us", gap: "ids missing" };
const ANSWERS = { fresh: "○", serve: "✓", refuse: "■", ambiguous: "▲", replay: "✓", caught_up: "✓", sync_required: "■" };

function bar(one, y, frame) {
  const left = Math.max(frame.left, frame.x(frame.origin + one.from_ms));
  const right = Math.min(frame.right, frame.x(frame.origin + one.to_ms));
  if (right < left) return "";
  const ids = one.floor ? `, floor ${one.floor}, high-water mark ${one.high_water ?? "unknown"}` : "";
  const width = Math.max(one.state === "gap" ? 3 : 1, right - left);
  const drawn = node("g", { class: `cover ${one.state}` }, titled(`${WORDS[one.state] ?? one.state}${ids}`), node("rect", { x: left, y, width, height: BAR }));
  if (one.state === "unwatched" && width > 78) drawn.append(node("text", { x: left + 4, y: y + 11 }, "not watched"));
  return drawn;
}

function resume(one, y, frame) {
  const x = frame.x(frame.origin + one.at_ms);
  if (x < frame.left || x > frame.right) return "";
  const says = `resume: ${one.answer.replace("_", " ")}${one.code ? `, ${one.code}` : ""}`;
  const link = node("a", { class: `resume ${one.code ? "on-bad" : "on-plain"}`, href: frame.refUrl(one.ref), "aria-label": seen(says), tabindex: "-1" }, titled(says));
  link.append(node("rect", { x: x - 9, y: y - 5, width: 18, height: 24, class: "hit" }), node("path", { d: `M${x.toFixed(1)} ${y - 3}v${BAR + 6}` }), node("text", { x, y: y + 11 }, ANSWERS[one.answer] ?? "?"));
  return link;
}

function name(strip, y, frame) {
  const words = `${strip.replica.slice(0, 14)} · ${strip.basis}`;
  return node("text", { x: frame.isNarrow ? frame.left : 0, y: frame.isNarrow ? y - 4 : y + 11, class: "lane-name" }, seen(words));
}

export function drawStrips(svg, strips, frame) {
  const shown = strips.filter((one) => frame.lanes.includes(one.lane));
  const step = frame.isNarrow ? STRIP + 6 : STRIP;
  emptied(svg);
  shown.forEach((strip, place) => {
    const y = place * step + (frame.isNarrow ? 18 : 8);
    const holes = frame.holes.filter((one) => one.lane === strip.lane).map((one) => ({ ...one, state: "unwatched" }));
    svg.append(
      name(strip, y, frame),
      node("rect", { x: frame.left, y, width: Math.max(0, frame.right - frame.left), height: BAR, class: "cover-ground" }),
      ...[...strip.bars, ...holes].map((one) => bar(one, y, frame)),
      ...strip.resumes.map((one) => resume(one, y, frame)),
    );
  });
  const height = shown.length * step + 6;
  svg.setAttribute("height", height);
  return height;
}
