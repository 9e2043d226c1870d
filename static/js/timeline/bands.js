// The dense part: all points of all bands, drawn on uPlot's canvas by its draw hook.

import { heightAt, offsetIn } from "./layout.js";

const NAMES = ["accent", "accent-wash", "line", "soft", "ink", "card", "sunk", "done", "gap", "bad", "skip"];

// A canvas does not understand light-dark(); an element that wears the colour has it resolved.
export function readColours(host) {
  const probe = document.createElement("i");
  host.append(probe);
  const found = {};
  for (const name of NAMES) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

// Replicas that heard the same lie over each other: the first is the widest and palest, the last a hairline.
export const widths = (count, place) => 1.4 + Math.min(3, count - 1 - place) * 2.4;

function drawRow(ctx, row, chart, colours) {
  const left = Math.max(chart.left, chart.x(row.born)), right = Math.min(chart.right, chart.x(row.ended));
  if (right < chart.left || left > chart.right) return;
  ctx.fillStyle = colours["accent-wash"];
  ctx.strokeStyle = row.isChosen ? colours.accent : colours.line;
  ctx.lineWidth = row.isChosen ? 2 : 1;
  ctx.beginPath();
  ctx.rect(left + 0.5, row.top + 0.5, Math.max(2, right - left), row.height);
  ctx.fill();
  ctx.stroke();
}

// Two values stand for a bucket, its least and its greatest id, so that no reset and no lone id is smoothed away. Where a
// missing id says nothing, no line may say that all between were there: a sparse bus is drawn as points.
function drawBand(ctx, band, chart, y) {
  let isFirst = true;
  ctx.beginPath();
  for (let i = 0; i < band.t.length; i++) {
    const x = chart.x(chart.origin + band.t[i]);
    if (x < chart.left - 40 || x > chart.right + 40) continue;
    const [low, high] = [y(band.lo[i]), y(band.hi[i])];
    if (chart.isSparse) ctx.moveTo(x, low);
    else ctx.lineTo(x, low);
    // A path of one point would not be drawn at all.
    if (chart.isSparse || isFirst || low - high > 0.5) ctx.lineTo(x, Math.min(high, low - 0.1));
    isFirst = false;
  }
  ctx.stroke();
}

function drawGrid(ctx, chart, colours) {
  ctx.strokeStyle = colours.line;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const at of chart.ticks) {
    const x = Math.round(chart.x(at)) + 0.5;
    ctx.moveTo(x, chart.top);
    ctx.lineTo(x, chart.bottom);
  }
  ctx.stroke();
}

function drawPhases(ctx, chart, colours) {
  for (const phase of chart.phases) {
    const left = Math.max(chart.left, chart.x(chart.origin + phase.from_ms));
    const right = Math.min(chart.right, chart.x(chart.origin + phase.to_ms));
    if (right <= left) continue;
    ctx.globalAlpha = 0.07;
    ctx.fillStyle = colours[phase.tone] ?? colours.soft;
    ctx.fillRect(left, chart.top, right - left, chart.bottom - chart.top);
    ctx.globalAlpha = 1;
    ctx.fillRect(left, chart.top - 3, right - left, 3);
  }
}

function drawPoints(ctx, rows, chart, colours) {
  const { lanes, saw } = chart;
  ctx.strokeStyle = colours.accent;
  ctx.lineJoin = ctx.lineCap = "round";
  for (const row of rows) {
    for (const band of row.bands) {
      const place = lanes.indexOf(band.lane);
      const shift = offsetIn(row, band), base = Number(band.base);
      ctx.lineWidth = widths(lanes.length, place);
      ctx.globalAlpha = place === lanes.length - 1 ? 1 : 0.32;
      drawBand(ctx, band, chart, saw ? (value) => saw.y(base + value) : (value) => heightAt(row, value + shift));
    }
  }
  ctx.globalAlpha = 1;
}

// `frame()` gives what is to be drawn: rows, lanes, range and choices. uPlot gives the canvas and the scale of x.
export function bandsPlugin(frame) {
  return {
    hooks: {
      draw: (plot) => {
        const { rows, colours, ...chart } = frame(plot), ctx = plot.ctx;
        const ratio = ctx.canvas.width / plot.width;
        ctx.save();
        ctx.scale(ratio, ratio);
        ctx.beginPath();
        ctx.rect(chart.left, 0, chart.right - chart.left, plot.height);
        ctx.clip();
        drawPhases(ctx, chart, colours);
        drawGrid(ctx, chart, colours);
        if (!chart.saw) for (const row of rows) drawRow(ctx, row, chart, colours);
        drawPoints(ctx, rows, chart, colours);
        ctx.restore();
      },
    },
  };
}
