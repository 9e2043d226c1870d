// Live rows. The stream carries only a poke; the page then fetches its own partial. Without the stream it asks every 15 s.
// While paused the pokes are counted and nothing moves.

import { announce } from "./page.js";

const state = document.getElementById("live-state");
const button = document.getElementById("live-pause");
const word = state?.querySelector("span");
const parts = () => document.querySelectorAll("[data-live]");
const words = { open: "live", polling: "asking every 15 s", lost: "connection lost, trying again", stale: "the server cannot see new rows", paused: "paused" };

let paused = false;
let newest = null;
let shown = null;
let waits = false;
let stream = "polling";

function show() {
  if (!state) return;
  state.hidden = parts().length === 0;
  state.dataset.state = paused ? "paused" : stream;
  word.textContent = words[paused ? "paused" : stream] + (paused && waits ? `, ${newer() || "something"} newer in the log` : "");
  button.textContent = paused ? "Resume" : "Pause";
  button.setAttribute("aria-pressed", String(paused));
}

const newer = () => (shown === null || newest === null ? 0 : Math.max(0, newest - shown));

function refresh() {
  if (document.hidden || document.querySelector("dialog[open], [popover]:popover-open")) return;
  for (const part of parts()) htmx.trigger(part, "refresh");
  shown = newest;
}

// A poke's id is the newest leaf index of the project's log.
function poke(event) {
  newest = Number(event.detail?.id ?? newest);
  waits = paused;
  if (!paused) refresh();
  show();
}

button?.addEventListener("click", () => {
  paused = !paused;
  if (!paused) {
    if (waits) announce(`${newer() || "Something"} newer in the log`);
    waits = false;
    refresh();
  }
  show();
});

document.addEventListener("ledger", poke);
document.addEventListener("stale", () => { stream = "stale"; show(); });
document.addEventListener("fresh", () => { stream = "open"; show(); });
document.addEventListener("htmx:sse:after:connection", () => { stream = "open"; show(); });
document.addEventListener("htmx:sse:error", () => { stream = "lost"; show(); });
document.addEventListener("htmx:sse:close", () => { stream = "polling"; show(); });
document.addEventListener("htmx:after:swap", show);
document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) refresh(); });
setInterval(() => { if (!paused && stream !== "open") refresh(); }, 15_000);
show();
