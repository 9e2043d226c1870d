// Single-letter keys: / search, j and k rows, e explain, o original, p pause, ? help. They can be switched off (WCAG 2.1.4).

const store = "counterfoil.keys";
export const allowed = () => {
  try {
    return localStorage.getItem(store) !== "off";
  } catch {
    return true;
  }
};

const rows = () => [...document.querySelectorAll("[data-row]")];
const current = () => document.activeElement?.closest("[data-row]");

function step(by) {
  const all = rows();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.max(0, Math.min(all.length - 1, at + by))];
  next.querySelector("a")?.focus();
  next.scrollIntoView({ block: "nearest" });
}

const follow = (name) => (current() ?? document).querySelector(`[data-go="${name}"]`)?.click();

const actions = {
  "/": () => document.querySelector("[data-key='/']")?.focus(),
  "?": () => document.getElementById("help")?.togglePopover(),
  j: () => step(1),
  k: () => step(-1),
  e: () => follow("explain"),
  o: () => follow("original"),
  p: () => document.getElementById("live-pause")?.click(),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, [contenteditable]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !allowed()) return;
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

const toggle = document.getElementById("keys-on");
if (toggle) {
  toggle.checked = allowed();
  toggle.addEventListener("change", () => localStorage.setItem(store, toggle.checked ? "on" : "off"));
}
