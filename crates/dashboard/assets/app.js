// Everything works without this file. It closes menus, copies, and moves by keys.
"use strict";
const menus = () => document.querySelectorAll("details.menu[open]");
addEventListener("click", (event) => {
  for (const menu of menus()) if (!menu.contains(event.target)) menu.open = false;
  const button = event.target.closest("[data-copy]");
  if (button) navigator.clipboard?.writeText(document.getElementById(button.dataset.copy).value);
});
for (const button of document.querySelectorAll("[data-copy]")) button.hidden = false;
const typing = (target) => target.closest("input,select,textarea,[contenteditable]");
let going = false;
addEventListener("keydown", (event) => {
  if (event.key === "Escape") return menus().forEach((menu) => ((menu.open = false), menu.querySelector("summary").focus()));
  if (typing(event.target) || event.ctrlKey || event.metaKey || event.altKey) return;
  const target = document.querySelector(`[data-key="${CSS.escape((going ? "g " : "") + event.key)}"]`);
  going = event.key === "g" && !going;
  if (!target) return;
  event.preventDefault();
  target.matches("input") ? target.focus() : target.click();
});
