// A new drawing takes the focused mark away; the keyboard stays on the same finding or band, or else on the stage.

const NAMES = ["finding", "band"];

const same = (parts, data) => {
  const name = NAMES.find((one) => data[one]);
  return name ? parts.over.querySelector(`[data-${name}="${CSS.escape(data[name])}"]`) : null;
};

export function keepFocus(parts, draw) {
  const focused = document.activeElement?.closest("[data-part=over] a, [data-part=strips] a");
  draw();
  if (focused && !focused.isConnected) (same(parts, focused.dataset) ?? parts.stage).focus({ preventScroll: true });
}
