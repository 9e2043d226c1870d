// Live rows. The stream carries only a poke; the page then fetches its own partial. Without the stream it asks every 15 s.
// While paused the pokes are counted and nothing moves.

import { announce } from "./page.js";

const state = document.getElementById("live-state");
const button = document.getElementById("live-pause");
const word = state?.querySelector("span");
const parts = () => document.querySelectorAll("[data-live]");
const words = { open: "live", polling: "asking every 15 s", lost: "connection lost, trying again", paused: "paused" };

let paused = false;
let waiting = 0;
let stream = "polling";

function show() {
  if (!state) return;
  state.hidden = parts().length === 0;
  state.dataset.state = paused ? "paused" : stream;
  word.textContent = paused && waiting ? `paused, ${waiting} new` : words[paused ? "paused" : stream];
  button.textContent = paused ? "Resume" : "Pause";
  button.setAttribute("aria-pressed", String(paused));
}

function refresh() {
  if (document.hidden || document.querySelector("dialog[open], [popover]:popover-open")) return;
  for (const part of parts()) htmx.trigger(part, "refresh");
}

function poke() {
  if (paused) waiting += 1;
  else refresh();
  show();
}

button?.addEventListener("click", () => {
  paused = !paused;
  if (!paused) {
    if (waiting) announce(`${waiting} new`);
    waiting = 0;
    refresh();
  }
  show();
});

document.addEventListener("ledger", poke);
document.addEventListener("htmx:sse:after:connection", () => { stream = "open"; show(); });
document.addEventListener("htmx:sse:error", () => { stream = "lost"; show(); });
document.addEventListener("htmx:sse:close", () => { stream = "polling"; show(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && !paused) refresh(); });
setInterval(() => { if (!paused && stream !== "open") refresh(); }, 15_000);
show();
