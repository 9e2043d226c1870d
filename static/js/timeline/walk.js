// The way through the findings: one after the other, through the whole time and into clusters.

import { announce } from "../page.js";
import { write } from "./address.js";
import { clusterOf, findingItem, itemsOf, opened, stepFrom } from "./steps.js";

const around = (item) => ({ from: item.from - 1, to: item.to + 1 });

export class Walk {
  constructor(timeline) {
    Object.assign(this, { timeline, items: [], chosen: null, isOpening: false });
  }

  know(doc) {
    this.items = itemsOf(doc);
  }

  // A finding of a cluster is in no list yet; its own page knows when it was.
  async itemOf(id) {
    const known = this.items.find((one) => one.id === id);
    if (known) return known;
    const { base } = this.timeline.parts.finding.querySelector("[data-say=link]").dataset;
    const url = new URL(`${base}${encodeURIComponent(id)}.json`, location.href);
    const asOf = new URLSearchParams(location.search).get("as_of");
    if (asOf) url.searchParams.set("as_of", asOf);
    const answer = await fetch(url, { headers: { accept: "application/json" } });
    return answer.ok ? findingItem(await answer.json()) : null;
  }

  async step(by) {
    if (this.isOpening) return;
    const { shown } = this.timeline;
    const wrap = clusterOf(this.items, this.chosen);
    if (wrap) await this.opening(this.reveal(wrap));
    const next = stepFrom(this.items, shown.finding, by, shown.range, this.chosen?.at);
    if (!this.items.length) announce("There are no findings in this time");
    else if (!next) announce(by > 0 ? "That was the last finding" : "That was the first finding");
    else if (next.cluster) await this.opening(this.open(next, by));
    else this.timeline.choose(next, true);
  }

  async opening(work) {
    this.isOpening = true;
    await work.catch(() => announce("These findings could not be read"));
    this.isOpening = false;
  }

  // Findings of a cluster were too many for one answer; they come when its time is asked for by itself.
  async open(item, by) {
    const place = this.items.indexOf(item);
    const items = opened(this.items, item, await this.timeline.fetched(around(item)));
    if (!items) return this.pass(item);
    const next = items[by > 0 ? place : place + items.length - this.items.length];
    this.items = items;
    return next.cluster ? this.open(next, by) : this.timeline.choose(next, true);
  }

  // Opens the clusters that the chosen finding lies in, until it is in the list itself.
  async reveal(cluster) {
    const items = opened(this.items, cluster, await this.timeline.fetched(around(cluster)));
    if (!items) return;
    this.items = items;
    const inner = clusterOf(items, this.chosen);
    if (inner && inner.to - inner.from < cluster.to - cluster.from) await this.reveal(inner);
  }

  pass(item) {
    this.chosen = null;
    this.timeline.shown.finding = item.id;
    this.timeline.range(item.from - 1, item.to + 1);
    write(this.timeline.shown);
    announce(`${item.cluster.count} findings ${item.cluster.code}, too close to be told apart`);
  }
}
