// By hand and by keys: buttons, links on the chart, and the keys of the stage. Single letters heed the page's switch.

import { allowed } from "../keys.js";

const keysOfStage = {
  ArrowLeft: (timeline, event) => timeline.move(event.shiftKey ? -0.1 : -0.01),
  ArrowRight: (timeline, event) => timeline.move(event.shiftKey ? 0.1 : 0.01),
  "+": (timeline) => timeline.zoom(0.5),
  "=": (timeline) => timeline.zoom(0.5),
  "-": (timeline) => timeline.zoom(2),
  Home: (timeline) => timeline.edge(false),
  End: (timeline) => timeline.edge(true),
  Escape: (timeline) => timeline.reset(),
};
const letters = { n: 1, p: -1 };

const acts = {
  in: (timeline) => timeline.zoom(0.5),
  out: (timeline) => timeline.zoom(2),
  earlier: (timeline) => timeline.move(-0.5),
  later: (timeline) => timeline.move(0.5),
  whole: (timeline) => timeline.reset(),
  next: (timeline) => timeline.step(1),
  previous: (timeline) => timeline.step(-1),
  absolute: (timeline) => timeline.toggle("absolute"),
  zone: (timeline) => timeline.toggle("zone"),
};

function onKey(event, host, timeline) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select, [contenteditable]")) return;
  const stage = event.target.closest("[data-part=stage]");
  const act = stage && keysOfStage[event.key];
  const isLetter = event.key in letters && (host.contains(event.target) || allowed());
  if (!act && !isLetter) return;
  event.preventDefault();
  // The page's own letters must not answer too: there p pauses.
  event.stopPropagation();
  if (act) act(timeline, event);
  else timeline.step(letters[event.key]);
}

function onClick(event, timeline) {
  const target = event.target.closest("[data-do], [data-finding], [data-band]");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  if (target.dataset.do) acts[target.dataset.do]?.(timeline);
  else if (target.dataset.finding) timeline.chooseById(target.dataset.finding);
  else timeline.lifeOf(target.dataset.band);
}

export function listen(host, timeline) {
  document.addEventListener("keydown", (event) => onKey(event, host, timeline), { capture: true });
  host.addEventListener("click", (event) => onClick(event, timeline));
  host.querySelector("[data-part=lane]")?.addEventListener("change", (event) => timeline.ofLane(event.target.value));
}
