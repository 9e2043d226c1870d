// Times on the axis: which are marked, and how they are written, in UTC or in the reader's own zone.

const SECOND = 1_000, MINUTE = 60_000, HOUR = 3_600_000, DAY = 86_400_000, YEAR = 365.25 * DAY;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500]
  .concat([1, 2, 5, 10, 15, 30].map((n) => n * SECOND), [1, 2, 5, 10, 15, 30].map((n) => n * MINUTE))
  .concat([1, 2, 3, 6, 12].map((n) => n * HOUR), [1, 2, 7, 14, 30, 90].map((n) => n * DAY))
  .concat([1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000].map((n) => n * YEAR));
const APART = 92;

// Minutes that the reader's clock is ahead of UTC at a moment; the browser knows daylight saving.
const ahead = (at, zone) => (zone === "local" ? -new Date(at).getTimezoneOffset() * MINUTE : 0);

export const zoneName = (zone) => (zone === "local" ? Intl.DateTimeFormat().resolvedOptions().timeZone : "UTC");

export function ticks(from, to, width, zone) {
  const least = ((to - from) * APART) / Math.max(width, 1);
  const step = STEPS.find((one) => one >= least) ?? STEPS[STEPS.length - 1];
  const shift = ahead(from, zone);
  const found = [];
  for (let at = Math.ceil((from + shift) / step) * step - shift; at <= to; at += step) found.push(at);
  return { step, at: found };
}

const shown = (at, zone) => new Date(at + ahead(at, zone)).toISOString();

export function tickText(at, step, zone) {
  const text = shown(at, zone);
  if (step >= YEAR) return text.slice(0, 4);
  if (step >= DAY) return text.slice(5, 10);
  if (step < SECOND) return text.slice(14, 23);
  const clock = step < MINUTE ? text.slice(11, 19) : text.slice(11, 16);
  return clock.startsWith("00:00") ? text.slice(5, 10) : clock;
}

export function moment(at, zone) {
  const text = shown(at, zone);
  return `${text.slice(0, 10)} ${text.slice(11, 23)} ${zoneName(zone)}`;
}

const units = [[DAY, "d"], [HOUR, "h"], [MINUTE, "min"], [SECOND, "s"]];

export function lasting(milliseconds) {
  const [size, unit] = units.find(([one]) => milliseconds >= one) ?? [1, "ms"];
  const value = milliseconds / size;
  return `${value >= 10 || Number.isInteger(value) ? Math.round(value) : value.toFixed(1)} ${unit}`;
}
