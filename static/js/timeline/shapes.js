// Small SVG parts that can be clicked: nodes, shapes of findings, and text.

const SPACE = "http://www.w3.org/2000/svg";

const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]/gu;

// Text of producers with what cannot be seen marked: a sign of direction would turn the label around.
export const seen = (text) => String(text).replace(UNSEEN, "�");

export function node(name, attributes = {}, ...children) {
  const made = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

export const titled = (text) => node("title", {}, seen(text));

export const emptied = (parent) => {
  parent.replaceChildren();
  return parent;
};

// The paths of shapes come from the server, which draws the same ones; each lies in a square of 16 around 0.
export function mark(path, x, y, letter, count = 1) {
  const group = node("g", { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` });
  group.append(node("circle", { r: 12, class: "hit" }), node("path", { d: path, class: "shape" }), node("text", { y: 3.5, class: "letter" }, letter));
  if (count > 1) group.append(node("text", { x: 10, y: -3, class: "count" }, `×${count}`));
  return group;
}
