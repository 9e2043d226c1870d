// What the chart shows at one place, in words: for the eye at once, for the ear when the keys have come to rest.

import { announce } from "../page.js";
import { moment } from "./scale.js";
import { seen } from "./shapes.js";

const REST = 400, MOST = 4;
let waits;

function sentence({ band, low, high, count }) {
  const ids = low === high ? `id ${low}` : `ids ${low} to ${high}`;
  return `${band.label}, ${band.replica}: ${ids}, ${count.toLocaleString("en")} message${count === 1 ? "" : "s"}`;
}

export function tell(place, at, chart, zone, isByKey) {
  clearTimeout(waits);
  if (at === "") return void (place.textContent = place.dataset.empty);
  const found = chart.at(at);
  const more = found.length > MOST ? `; and ${found.length - MOST} more` : "";
  const text = `${moment(at, zone)}: ${found.slice(0, MOST).map(sentence).join("; ") || "nothing was heard"}${more}`;
  place.textContent = seen(text);
  if (isByKey) waits = setTimeout(() => announce(text), REST);
}

export function tellFinding(place, item, items, zone) {
  const { finding } = item;
  const write = (name, text) => (place.querySelector(`[data-say="${name}"]`).textContent = seen(text ?? ""));
  place.hidden = false;
  place.dataset.severity = finding.severity;
  write("code", finding.code);
  const nth = items.findIndex((one) => one.id === item.id) + 1;
  write("place", nth ? `${nth} of ${items.length}` : "");
  write("sentence", finding.sentence);
  write("rule", finding.rule);
  write("at", moment(item.at, zone));
  write("where", [finding.replica, finding.epoch ? `epoch ${finding.epoch}` : "", finding.event_id ? `id ${finding.event_id}` : ""].filter(Boolean).join(", "));
  const link = place.querySelector("[data-say=link]");
  link.href = link.dataset.base + encodeURIComponent(finding.id);
}
