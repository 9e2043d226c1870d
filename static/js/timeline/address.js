// What is shown lives in the address, so that an incident is a link.

const written = (ms) => new Date(Math.round(ms)).toISOString();

export function read(host) {
  const asked = new URLSearchParams(location.search);
  const time = (name) => {
    if (!asked.get(name)) return null;
    // The server also reads ages such as 2h; it says which moment that was.
    const ms = Date.parse(asked.get(name));
    return Number.isNaN(ms) ? Date.parse(host.dataset[name]) : ms;
  };
  return {
    from: time("from"),
    to: time("to"),
    lane: asked.get("lane") || "",
    band: asked.get("band") || "",
    finding: asked.get("finding") || "",
    isAbsolute: asked.get("y") === "absolute",
    zone: asked.get("zone") === "local" ? "local" : "utc",
  };
}

function query(shown) {
  const asked = new URLSearchParams(location.search);
  const isWhole = shown.range.from <= shown.whole.from && shown.range.to >= shown.whole.to;
  const parts = {
    from: isWhole ? "" : written(shown.range.from),
    to: isWhole ? "" : written(shown.range.to),
    lane: shown.lane,
    band: shown.band,
    finding: shown.finding,
    y: shown.isAbsolute ? "absolute" : "",
    zone: shown.zone === "local" ? "local" : "",
  };
  for (const [name, value] of Object.entries(parts)) value ? asked.set(name, value) : asked.delete(name);
  asked.delete("row");
  return asked.toString();
}

export function address(shown) {
  const text = query(shown);
  return text ? `?${text}` : location.pathname;
}

// Some browsers refuse an address that changes too often; the chart is worth more than its link.
export function write(shown) {
  try {
    history.replaceState(null, "", address(shown));
  } catch {
    return false;
  }
  return true;
}

export function timelineUrl(base, range, width) {
  const url = new URL(base, location.href);
  if (range) {
    url.searchParams.set("from", written(range.from));
    url.searchParams.set("to", written(range.to));
  } else {
    url.searchParams.delete("from");
    url.searchParams.delete("to");
  }
  const asOf = new URLSearchParams(location.search).get("as_of");
  if (asOf) url.searchParams.set("as_of", asOf);
  url.searchParams.set("width", Math.min(4_000, Math.max(200, Math.round(width))));
  return url;
}
