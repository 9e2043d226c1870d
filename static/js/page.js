// What every page gains from a script: the theme without a reload, copy buttons, and the distance to now beside each time.

const root = document.documentElement;
root.classList.add("js");

export function announce(text) {
  const region = document.getElementById("announce");
  if (region) region.textContent = text;
}

function distance(milliseconds) {
  const seconds = Math.round(Math.abs(milliseconds) / 1000);
  const steps = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const [size, unit] = steps.find(([step]) => seconds >= step) ?? [1, "s"];
  const text = `${Math.floor(seconds / size)} ${unit}`;
  return milliseconds < 0 ? `in ${text}` : `${text} ago`;
}

// The time itself stays on the page and on paper; only the distance is added and kept fresh.
export function refreshTimes() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    let ago = time.querySelector(".ago");
    if (!ago) {
      ago = document.createElement("span");
      ago.className = "ago soft";
      time.append(ago);
    }
    const text = ` ${distance(Date.now() - Date.parse(time.dateTime))}`;
    if (ago.textContent !== text) ago.textContent = text;
  }
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    announce("Copied");
  } catch {
    announce("This browser did not allow copying; select the text instead");
  }
});

document.addEventListener("submit", async (event) => {
  const form = event.target.closest("[data-theme-form]");
  const chosen = event.submitter?.value;
  if (!form || !chosen) return;
  event.preventDefault();
  root.dataset.theme = chosen;
  for (const button of form.querySelectorAll("[name=theme]")) {
    button.setAttribute("aria-pressed", String(button.value === chosen));
  }
  const body = new URLSearchParams(new FormData(form));
  body.set("theme", chosen);
  await fetch(form.action, { method: "POST", body, redirect: "manual" });
});

// A swap takes the focused link away; without this the keyboard starts again at the top of the page.
document.addEventListener("htmx:after:swap", () => {
  refreshTimes();
  if (document.activeElement === document.body) document.getElementById("rows")?.focus({ preventScroll: true });
});

refreshTimes();
setInterval(refreshTimes, 10_000);
