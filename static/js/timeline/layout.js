// Where bands lie. A row is one ID space; each replica that heard of it has a band in the row. Rows are stacked in order of
// birth, the oldest at the bottom. Ids may lie beyond 2^53, so only differences of them become numbers.

export const LEAST = 36;
export const TITLE = 17;
const PER_TENFOLD = 18, APART = 6, MOST_LANES = 40;
export const MOST_ROWS = 40;

// The lanes that are drawn: the chosen one, or the first of all. More than these nobody could tell apart.
export const lanesOf = (doc, chosen) => doc.strips.map((one) => one.lane).filter((lane) => !chosen || lane === chosen).slice(0, MOST_LANES);

// An epoch that comes back keeps its row: the same counter goes on. Spaces without one are told apart by their place.
function keyOf(band, seen) {
  const name = `${band.lane} ${band.epoch}`;
  const begins = band.epoch === null || band.kind === "reset" || band.kind === "incarnation";
  const nth = (seen.get(name) ?? -1) + (begins || !seen.has(name) ? 1 : 0);
  seen.set(name, nth);
  return `${band.epoch === null ? "" : `e${band.epoch}`}/${nth}`;
}

const meet = (row, band) => BigInt(band.least) <= row.greatest && BigInt(band.greatest) >= row.least;

function rowOf(key, band) {
  const [least, greatest] = [BigInt(band.least), BigInt(band.greatest)];
  return { key, label: band.label, epoch: band.epoch, kind: band.kind, bands: [], count: 0, born: Infinity, ended: -Infinity, least, greatest };
}

function join(row, band) {
  row.bands.push(band);
  row.count = Math.max(row.count, band.count);
  row.born = Math.min(row.born, Date.parse(band.born_at));
  row.ended = Math.max(row.ended, Date.parse(band.last_at));
  if (BigInt(band.least) < row.least) row.least = BigInt(band.least);
  if (BigInt(band.greatest) > row.greatest) row.greatest = BigInt(band.greatest);
}

export function rowsOf(bands) {
  const seen = new Map(), rows = [];
  const known = bands.filter((band) => band.least !== null && band.greatest !== null);
  for (const band of known.sort((one, other) => one.ordinal - other.ordinal)) {
    const key = keyOf(band, seen);
    let row = rows.find((one) => one.key === key && (band.epoch !== null || meet(one, band)));
    if (!row) rows.push((row = rowOf(key, band)));
    join(row, band);
  }
  return rows.sort((one, other) => one.born - other.born);
}

// Gives each row its top and height, and the whole height; the newest row is the uppermost.
export function stack(rows, top) {
  let y = top;
  for (const row of [...rows].reverse()) {
    row.top = y;
    row.height = Math.max(LEAST, Math.round(PER_TENFOLD * Math.log10(row.count + 1)));
    row.span = Math.max(1, Number(row.greatest - row.least));
    y += row.height + APART;
  }
  return y;
}

export const offsetIn = (row, band) => Number(BigInt(band.base) - row.least);

export const heightAt = (row, value) => row.top + row.height - 3 - (value / row.span) * (row.height - TITLE - 4);

export const heightOfId = (row, id) => heightAt(row, Math.min(row.span, Math.max(0, Number(BigInt(id) - row.least))));

// One axis of ids for all rows: the saw-tooth. Numbers lose their last digits here, which no pixel could show.
export function absolute(rows, top, height) {
  const values = rows.flatMap((row) => [Number(row.least), Number(row.greatest)]);
  const [low, high] = [Math.max(1, Math.min(...values)), Math.max(2, ...values)];
  const scale = high / low > 1e7 ? Math.log10 : (value) => value;
  const [least, span] = [scale(low), Math.max(1e-9, scale(high) - scale(low))];
  return {
    isLogarithmic: scale === Math.log10,
    y: (value) => top + height - 4 - ((scale(Math.max(low, value)) - least) / span) * (height - 8),
  };
}
