// One chart: uPlot for the canvas, the axis, the cursor and the drag; our SVG over it for all that is clicked.

import { bandsPlugin, readColours } from "./bands.js";
import { absolute, lanesOf, MOST_ROWS, rowsOf, stack } from "./layout.js";
import { drawMarkers } from "./markers.js";
import { drawOverview } from "./overview.js";
import { tickText, ticks } from "./scale.js";
import { drawStrips } from "./strips.js";

const GUTTER = 132, NARROW = 640, EDGE = 20, HEAD = 40, AXIS = 26, LEAST_PLOT = 120, HALF_LETTER = 3.5;

export class Chart {
  // `parts` are the elements of the stage; `said` tells what happens: a range drawn by hand, and where the cursor is.
  constructor(parts, said, shapes) {
    Object.assign(this, { parts, said, shapes, rows: [], lanes: [], doc: null, colours: readColours(parts.stage) });
    this.width = this.measured();
    this.plot = this.made();
  }

  measured() {
    return Math.max(240, Math.floor(this.parts.stage.clientWidth));
  }

  get left() {
    return this.width < NARROW ? EDGE : GUTTER;
  }

  get right() {
    return this.width - EDGE;
  }

  x(at) {
    const { from, to } = this.range;
    return this.left + ((at - from) / (to - from)) * (this.right - this.left);
  }

  timeAt(x) {
    const { from, to } = this.range;
    return from + ((x - this.left) / (this.right - this.left)) * (to - from);
  }

  made() {
    const axis = {
      size: AXIS, grid: { show: false }, ticks: { size: 4, stroke: () => this.colours.line }, stroke: () => this.colours.soft,
      font: "12px system-ui, sans-serif", splits: () => this.ticks().at, values: () => this.tickTexts(),
    };
    const options = {
      width: this.width, height: LEAST_PLOT + HEAD + AXIS, padding: [0, EDGE, 0, this.left], pxAlign: false,
      legend: { show: false }, focus: { alpha: 1 },
      scales: { x: { time: false, auto: false, range: () => [this.range.from, this.range.to] }, y: { auto: false, range: () => [0, 1] } },
      axes: [axis, { show: false }], series: [{}, { show: false }],
      cursor: { x: false, y: false, points: { show: false }, drag: { x: true, y: false, setScale: false, dist: 4 } },
      hooks: { setCursor: [(plot) => this.pointed(plot)], setSelect: [(plot) => this.dragged(plot)] },
      plugins: [bandsPlugin(() => this.frame())],
    };
    this.range = { from: 0, to: 1 };
    this.shown = { zone: "utc" };
    const plot = new uPlot(options, [[0, 1], [null, null]], this.parts.plot);
    // The canvas says nothing to who cannot see it; the stage and the table do.
    plot.root.setAttribute("aria-hidden", "true");
    return plot;
  }

  ticks() {
    return ticks(this.range.from, this.range.to, this.right - this.left, this.shown.zone);
  }

  // A text that would be cut at the edge is left out.
  tickTexts() {
    const { at, step } = this.ticks();
    return at.map((one) => {
      const text = tickText(one, step, this.shown.zone);
      return this.x(one) + text.length * HALF_LETTER > this.width ? "" : text;
    });
  }

  pointed(plot) {
    const left = plot.cursor.left;
    this.said.pointed(left === undefined || left < 0 ? null : this.timeAt(this.left + left));
  }

  dragged(plot) {
    const { left, width } = plot.select;
    if (width < 4) return;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    this.said.dragged(this.timeAt(this.left + left), this.timeAt(this.left + left + width));
  }

  frame() {
    const { doc, rows, shown } = this;
    return {
      rows, shapes: this.shapes, isSparse: doc?.bus.density === "sparse", colours: this.colours, x: (at) => this.x(at), origin: doc ? Date.parse(doc.from) : 0,
      left: this.left, right: this.right, top: HEAD, bottom: this.height - AXIS, isNarrow: this.width < NARROW,
      lanes: this.lanes, saw: shown.isAbsolute && rows.length ? absolute(rows, HEAD, this.height - AXIS - HEAD) : null,
      findings: (doc?.findings ?? []).filter((one) => !shown.lane || !one.lane || one.lane === shown.lane),
      clusters: doc?.clusters ?? [], holes: doc?.holes ?? [], phases: doc?.phases ?? [], ticks: this.ticks().at,
      finding: shown.finding, ...this.said.addresses,
    };
  }

  // `shown` is what the address holds: range, lane, band, finding, axis and zone.
  draw(doc, whole, shown) {
    this.shown = shown;
    this.range = shown.range;
    if (doc !== this.doc || shown.lane !== this.lane) {
      this.lanes = lanesOf(doc, shown.lane);
      const rows = rowsOf(doc.bands.filter((band) => this.lanes.includes(band.lane)));
      this.rows = rows.slice(-MOST_ROWS);
      this.leftOut = rows.length - this.rows.length;
    }
    Object.assign(this, { doc, lane: shown.lane });
    for (const row of this.rows) row.isChosen = row.bands.some((band) => band.id === shown.band);
    this.height = Math.max(LEAST_PLOT, stack(this.rows, HEAD)) + AXIS;
    this.plot.batch(() => {
      if (this.plot.width !== this.width || this.plot.height !== this.height) this.plot.setSize({ width: this.width, height: this.height });
      this.plot.setScale("x", { min: this.range.from, max: this.range.to });
    });
    this.plot.redraw(false, true);
    this.parts.over.setAttribute("height", this.height);
    const frame = this.frame();
    drawMarkers(this.parts.over, frame);
    drawStrips(this.parts.strips, doc.strips, frame);
    drawOverview(this.parts.overview, whole.doc, this.overviewFrame(whole));
    this.point(this.cursor ?? null);
  }

  overviewFrame(whole) {
    return { whole: { from: whole.from, to: whole.to }, left: this.left, right: this.right, range: this.range };
  }

  // One line through bands and strips, wherever the cursor was moved from.
  point(at) {
    this.cursor = at;
    const x = at === null ? -1 : this.x(at);
    const isSeen = x >= this.left - 1 && x <= this.right + 1;
    this.parts.line.hidden = !isSeen;
    if (isSeen) this.parts.line.style.transform = `translateX(${x.toFixed(1)}px)`;
  }

  get isLogarithmic() {
    return this.frame().saw?.isLogarithmic ?? false;
  }

  // What lies at a time: of each band its bucket that is nearest.
  at(time) {
    const origin = Date.parse(this.doc.from), near = (this.range.to - this.range.from) / 100;
    const found = [];
    for (const row of this.rows) {
      for (const band of row.bands) {
        const place = nearest(band.t, time - origin);
        if (place < 0 || Math.abs(band.t[place] + origin - time) > near) continue;
        const [low, high] = [BigInt(band.base) + BigInt(band.lo[place]), BigInt(band.base) + BigInt(band.hi[place])];
        found.push({ row, band, low, high, count: band.n[place] });
      }
    }
    return found;
  }

  resize() {
    const width = this.measured();
    if (width === this.width) return false;
    this.width = width;
    this.plot.destroy();
    const kept = { range: this.range, shown: this.shown };
    this.plot = this.made();
    Object.assign(this, kept);
    return true;
  }

  recolour() {
    this.colours = readColours(this.parts.stage);
    this.plot.redraw(false, true);
  }
}

function nearest(sorted, value) {
  let [low, high] = [0, sorted.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle;
    else high = middle;
  }
  if (high < 0) return -1;
  return Math.abs(sorted[low] - value) <= Math.abs(sorted[high] - value) ? low : high;
}
