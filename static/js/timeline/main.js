// The timeline of a bus. The server has drawn it already; here the drawing is replaced by one that can be moved.

import { announce } from "../page.js";
import { address, read, timelineUrl, write } from "./address.js";
import { Chart } from "./chart.js";
import { keepFocus } from "./focus.js";
import { follow } from "./follow.js";
import { listen } from "./keyboard.js";
import { brush } from "./overview.js";
import { lasting, moment } from "./scale.js";
import { tell, tellFinding } from "./telling.js";
import { Walk } from "./walk.js";

const LEAST_SPAN = 20, PATIENCE = 140;
const PARTS = ["stage", "plot", "over", "strips", "line", "overview", "reading", "finding", "span", "cut"];

class Timeline {
  constructor(host) {
    const asked = read(host);
    this.host = host;
    this.parts = Object.fromEntries(PARTS.map((name) => [name, host.querySelector(`[data-part="${name}"]`)]));
    this.shown = { lane: asked.lane, band: asked.band, finding: asked.finding, isAbsolute: asked.isAbsolute, zone: asked.zone, range: null, whole: null };
    this.asked = asked;
    this.walk = new Walk(this);
  }

  async start() {
    this.know(await this.fetched(null));
    const begun = performance.now();
    this.show();
    this.range(this.asked.from ?? this.whole.from, this.asked.to ?? this.whole.to);
    this.measure("timeline first drawn", begun);
    if (this.shown.finding) this.choose(await this.walk.itemOf(this.shown.finding), false);
    else if (this.shown.band && this.asked.from === null) this.lifeOf(this.shown.band);
    follow(this.host, () => this.renew());
  }

  know(whole) {
    const [from, to] = [Date.parse(whole.bus.born_at ?? whole.from), Date.parse(whole.bus.last_at ?? whole.to)];
    this.whole = { doc: whole, from: Math.min(from, Date.parse(whole.from)), to: Math.max(to, Date.parse(whole.to), from + LEAST_SPAN) };
    this.shown.whole = { from: this.whole.from, to: this.whole.to };
    this.walk.know(whole);
  }

  // What is new comes in where it ends now: the whole grows, a part of it that ended with it moves along unless something in it
  // is being looked at, and every other part stays as it is.
  async renew() {
    const doc = await this.fetched(null);
    if (this.isHeld) return 1;
    const before = this.whole, { from, to } = this.shown.range;
    const isWhole = from <= before.from && to >= before.to;
    const isLast = to >= before.to && !this.shown.finding && !this.shown.band && !this.parts.stage.contains(document.activeElement);
    this.know(doc);
    const by = isLast ? this.whole.to - before.to : 0;
    if (isWhole) this.doc = doc;
    if (isWhole) this.range(this.whole.from, this.whole.to);
    else this.range(from + by, to + by);
    return doc.window?.lag ?? 0;
  }

  // From here on the server's drawing is out of the way.
  show() {
    const { host } = this;
    host.classList.add("drawn");
    const said = {
      pointed: (at) => this.pointed(at, false),
      dragged: (from, to) => this.range(from, to),
      addresses: {
        findingUrl: (finding) => address({ ...this.shown, finding: finding.id }),
        bandUrl: (row) => address({ ...this.shown, band: row.bands[0].id }),
        refUrl: (ref) => (ref ? `${host.dataset.receipts}/${encodeURIComponent(ref)}` : null),
      },
    };
    this.chart = new Chart(this.parts, said, JSON.parse(host.dataset.shapes));
    this.doc = this.whole.doc;
    brush(this.parts.overview, () => this.chart.overviewFrame(this.whole), (from, to) => this.range(from, to));
    listen(host, this);
    const hold = (isHeld) => () => (this.isHeld = isHeld);
    for (const one of [this.parts.stage, this.parts.overview]) one.addEventListener("pointerdown", hold(true));
    for (const name of ["pointerup", "pointercancel"]) window.addEventListener(name, hold(false));
    new ResizeObserver(() => this.chart.resize() && this.draw()).observe(this.parts.stage);
    const recolour = () => this.chart.recolour();
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolour);
    new MutationObserver(recolour).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  }

  async fetched(range, signal) {
    const url = timelineUrl(this.host.dataset.timeline, range, this.parts.stage.clientWidth || 1100);
    const answer = await fetch(url, { headers: { accept: "application/json" }, signal });
    if (!answer.ok) throw new Error(`the timeline answered ${answer.status}`);
    return answer.json();
  }

  range(from, to) {
    const { whole } = this.shown;
    const span = Math.min(whole.to - whole.from, Math.max(LEAST_SPAN, to - from));
    const start = Math.max(whole.from, Math.min(from, whole.to - span));
    // Whole milliseconds, as the address writes them: a link shows the same again.
    this.shown.range = { from: Math.floor(start), to: Math.ceil(start + span) };
    this.draw();
    this.finer();
  }

  draw() {
    const begun = performance.now();
    keepFocus(this.parts, () => this.chart.draw(this.doc, this.whole, this.shown));
    for (const button of this.host.querySelectorAll("[data-do][aria-pressed]")) button.setAttribute("aria-pressed", String(this.isOn(button.dataset.do)));
    this.parts.span.textContent = `${moment(this.shown.range.from, this.shown.zone)}, ${lasting(this.shown.range.to - this.shown.range.from)}${this.chart.isLogarithmic ? ", ids by their logarithm" : ""}`;
    this.parts.cut.textContent = this.chart.leftOut ? `The newest ${this.chart.rows.length} ID spaces of this time are drawn, ${this.chart.leftOut} older are not: zoom in, or see the tables. ` : "";
    this.measure("timeline drawn", begun);
  }

  // uPlot paints in a microtask of its own, which comes before this one.
  measure(name, begun) {
    queueMicrotask(() => performance.measure(name, { start: begun }));
  }

  isOn(name) {
    return name === "absolute" ? this.shown.isAbsolute : this.shown.zone === "local";
  }

  // What is on the screen is stretched at once; the finer points come when the hand has come to rest.
  finer() {
    this.host.dataset.state = "moving";
    clearTimeout(this.waits);
    this.waits = setTimeout(() => this.load(), PATIENCE);
  }

  async load() {
    write(this.shown);
    this.loading?.abort();
    this.loading = new AbortController();
    const { from, to } = this.shown.range;
    if (from <= this.whole.from && to >= this.whole.to) this.take(this.whole.doc);
    else {
      try {
        this.take(await this.fetched(this.shown.range, this.loading.signal));
      } catch (error) {
        if (error.name !== "AbortError") announce("The finer points could not be read; the coarse ones are shown");
      }
    }
    this.host.dataset.state = "settled";
  }

  take(doc) {
    this.doc = doc;
    this.draw();
  }

  pointed(at, isByKey) {
    this.chart.point(at);
    tell(this.parts.reading, at === null ? "" : at, this.chart, this.shown.zone, isByKey);
  }

  // Moves the cursor by a share of the range, and the range along with it at its edges.
  move(share) {
    const { from, to } = this.shown.range, span = to - from;
    const at = Math.min(this.whole.to, Math.max(this.whole.from, (this.chart.cursor ?? from + span / 2) + share * span));
    if (at < from || at > to) this.range(from + share * span * 10, to + share * span * 10);
    this.pointed(at, true);
  }

  zoom(factor) {
    const { from, to } = this.shown.range;
    const middle = this.chart.cursor ?? (from + to) / 2;
    this.range(middle - (middle - from) * factor, middle + (to - middle) * factor);
    announce(`${lasting(this.shown.range.to - this.shown.range.from)} shown`);
  }

  edge(isEnd) {
    const span = this.shown.range.to - this.shown.range.from;
    this.range(isEnd ? this.whole.to - span : this.whole.from, isEnd ? this.whole.to : this.whole.from + span);
    this.pointed(isEnd ? this.shown.range.to : this.shown.range.from, true);
  }

  reset() {
    Object.assign(this.shown, { band: "", finding: "" });
    this.walk.chosen = null;
    this.parts.finding.hidden = true;
    this.range(this.whole.from, this.whole.to);
    write(this.shown);
    announce("The whole time is shown");
  }

  toggle(name) {
    if (name === "absolute") this.shown.isAbsolute = !this.shown.isAbsolute;
    else this.shown.zone = this.shown.zone === "local" ? "utc" : "local";
    write(this.shown);
    this.draw();
  }

  ofLane(lane) {
    this.shown.lane = lane;
    write(this.shown);
    this.draw();
  }

  lifeOf(id) {
    const band = this.doc.bands.find((one) => one.id === id) ?? this.whole.doc.bands.find((one) => one.id === id);
    if (!band) return;
    this.shown.band = id;
    const [from, to] = [Date.parse(band.born_at), Date.parse(band.last_at)];
    const edge = Math.max(LEAST_SPAN, (to - from) * 0.04);
    this.range(from - edge, to + edge);
    announce(`${band.label}, ids ${band.least} to ${band.greatest}`);
  }

  step(by) {
    return this.walk.step(by);
  }

  choose(item, isMoving) {
    if (!item) return;
    this.walk.chosen = item;
    this.shown.finding = item.id;
    const { from, to } = this.shown.range, span = to - from;
    if (isMoving && (item.at < from || item.at > to)) this.range(item.at - span / 2, item.at + span / 2);
    else this.draw();
    write(this.shown);
    this.pointed(item.at, false);
    tellFinding(this.parts.finding, item, this.walk.items, this.shown.zone);
    announce(`${item.finding.code}. ${item.finding.sentence}`);
  }

  chooseById(id) {
    this.choose(this.walk.items.find((one) => one.id === id) ?? this.walk.chosen, false);
  }
}

function begin() {
  const host = document.querySelector("[data-timeline]:not([data-begun])");
  if (!host || !window.uPlot) return;
  host.dataset.begun = "";
  new Timeline(host).start().catch((error) => {
    host.classList.remove("drawn");
    console.error(error);
    announce("The timeline could not be made movable; the drawing and the tables stand");
  });
}

begin();
// A bus that had nothing to draw gets its timeline with the first message.
document.addEventListener("htmx:after:swap", begin);
