// Everything works without this file. It closes menus, copies commands, moves by keys, and says the values of a chart's day.
"use strict";
const all = (what, of = document) => [...of.querySelectorAll(what)];

// Menus close by a click elsewhere and by Escape.
addEventListener("click", ({ target }) => {
  for (const menu of all("details.menu[open]")) if (!menu.contains(target)) menu.open = false;
  const button = target.closest("[data-copy]");
  if (button) copy(button);
});

// A button copies the field that it names, else what stands before it; where the browser keeps its clipboard to itself there is none.
for (const button of all("[data-copy]")) button.hidden = !navigator.clipboard;
const copy = async (button) => {
  const from = document.getElementById(button.dataset.copy) ?? button.previousElementSibling;
  await navigator.clipboard.writeText(from.value ?? from.textContent);
  button.textContent = button.dataset.done;
};

// A second press while the answer is on its way is no second wish. A form is meant for the shop that its page is of, whatever
// another tab has gone to since.
const sent = new WeakMap();
const { account } = document.documentElement.dataset;
addEventListener("submit", (event) => {
  const { target: form, timeStamp: now } = event;
  if (form.method !== "post") return;
  if (now - sent.get(form) < 3000) return event.preventDefault();
  sent.set(form, now);
  if (!account) return;
  const address = new URL(form.getAttribute("action") ?? "", location);
  address.searchParams.set("account", account);
  form.setAttribute("action", address);
});

// Keys, which can be switched off (WCAG 2.2, 2.1.4). Each is that of an element of the page.
const help = document.getElementById("keys");
const choice = help?.querySelector("input");
const stored = (set) => {
  try {
    return set === undefined ? localStorage.keys !== "off" : (localStorage.keys = set ? "on" : "off");
  } catch {
    return true; // A browser that keeps nothing.
  }
};
if (choice) {
  choice.checked = stored();
  choice.addEventListener("change", () => stored(choice.checked));
}
const say = (one) => one.title || one.labels?.[0]?.textContent || one.ariaLabel || one.textContent.trim();
help?.addEventListener("beforetoggle", () => {
  const known = new Map();
  // Of several with one key, it is the first that the key is of.
  for (const one of all("[data-key]")) if (!known.has(one.dataset.key)) known.set(one.dataset.key, say(one));
  help.querySelector("dl").replaceChildren(...[...known].flatMap(([key, text]) => {
    const [term, what, press] = ["dt", "dd", "kbd"].map((name) => document.createElement(name));
    press.textContent = key.replace("ArrowLeft", "←").replace("ArrowRight", "→");
    what.textContent = text;
    term.append(press);
    return [term, what];
  }));
});
let going = false;
addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Escape") for (const menu of all("details.menu[open]")) (menu.open = false), menu.querySelector("summary").focus();
  if (target.closest("input:not([type=checkbox]),select,textarea,pre,.scroll") || event.ctrlKey || event.metaKey || event.altKey) return;
  if (!stored()) return;
  const wanted = document.querySelector(`[data-key="${CSS.escape((going ? "g " : "") + key)}"]`);
  going = key === "g" && !going;
  if (!wanted) return;
  event.preventDefault();
  wanted.focus();
  if (!wanted.matches("input")) wanted.click();
});

// A crosshair: the day below the pointer, or that the arrow keys choose, with its row of the chart's table.
for (const figure of all("figure.chart")) {
  const plot = figure.querySelector("svg.plot");
  const table = figure.closest(".panel")?.querySelector(".foot table");
  if (!plot || !table) continue;
  // A row for each slot; the table begins with the last day.
  const rows = all("tbody tr", table).reverse();
  const heads = all("thead th", table).map((head) => head.textContent);
  const tip = document.createElement("div");
  const hair = document.createElementNS(plot.namespaceURI, "line");
  tip.className = "tip";
  tip.setAttribute("role", "status");
  hair.setAttribute("class", "hair");
  hair.setAttribute("y2", "240");
  plot.prepend(hair);
  figure.append(tip);
  let slot = rows.length - 1;
  const hide = (is = true) => {
    tip.hidden = is;
    hair.toggleAttribute("hidden", is);
  };
  hide();
  const show = (at) => {
    slot = Math.max(0, Math.min(rows.length - 1, at));
    const [day, ...cells] = [...rows[slot].cells].map((cell) => cell.textContent);
    const lines = cells.map((text, index) => `${heads[index + 1]}: ${text}`);
    const x = ((slot + 0.5) / rows.length) * 100;
    hair.setAttribute("x1", `${x}%`);
    hair.setAttribute("x2", `${x}%`);
    tip.replaceChildren(...[day, ...lines].map((text, index) => {
      const line = document.createElement(index ? "div" : "b");
      line.textContent = text;
      return line;
    }));
    hide(false);
    const [outer, inner] = [figure.getBoundingClientRect(), plot.getBoundingClientRect()];
    const left = inner.left - outer.left + (inner.width * x) / 100;
    tip.style.left = `${Math.max(0, left + (x > 50 ? -tip.offsetWidth - 12 : 12))}px`;
    tip.style.top = `${inner.top - outer.top + 8}px`;
  };
  plot.addEventListener("pointermove", (event) => {
    const { left, width } = plot.getBoundingClientRect();
    show(Math.floor(((event.clientX - left) / width) * rows.length));
  });
  plot.addEventListener("pointerleave", () => hide());
  plot.tabIndex = 0;
  plot.addEventListener("focus", () => plot.matches(":focus-visible") && show(slot));
  plot.addEventListener("blur", () => hide());
  plot.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") hide();
    if (!by || event.target !== plot) return;
    event.preventDefault();
    event.stopPropagation();
    show(slot + by);
  });
}
