// What makes the admin's pages pleasant; every form works without it.

import { localise } from "./times.js";
import { pageText } from "./texts.js";

const text = pageText();

// Live figures: each element with data-live asks its address every two seconds while the page is seen.
for (const live of document.querySelectorAll("[data-live]")) {
  setInterval(() => !document.hidden && refresh(live), 2000);
}

async function refresh(live) {
  try {
    const answer = await fetch(live.dataset.live, { cache: "no-store", signal: AbortSignal.timeout(5000) });
    if (!answer.ok) return;
    const body = await answer.json();
    if (!body.items) return show(live, body);
    for (const item of body.items) {
      const row = live.querySelector(`[data-item="${item.id}"]`);
      if (row) show(row, item);
    }
  } catch {
    // The next round asks again.
  }
}

function show(root, item) {
  for (const cell of root.querySelectorAll("[data-figure]")) {
    const value = item[cell.dataset.figure];
    if (value === undefined) continue;
    if (cell.dataset.figure === "phase") {
      cell.dataset.phase = value;
      cell.textContent = text("phase." + value);
    } else cell.textContent = value;
  }
}

// The admin's own zone, unless the form comes back with what was typed.
const form = document.getElementById("item-form");
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const list = document.getElementById("time_zone-list");
for (const name of list ? Intl.supportedValuesOf("timeZone") : []) {
  list.append(new Option(name, name));
}
if (form && "new" in form.dataset) form.elements.time_zone.value = zone;
if (form && "stored" in form.dataset) {
  for (const name of ["starts_at", "ends_at"]) {
    const field = form.elements[name];
    if (field.value) field.value = local(new Date(field.value + "Z"));
  }
  form.elements.time_zone.value = zone;
}

// local is a time on the browser's wall clock, as datetime-local wants it.
function local(at) {
  const part = (n, digits = 2) => String(n).padStart(digits, "0");
  return `${part(at.getFullYear(), 4)}-${part(at.getMonth() + 1)}-${part(at.getDate())}T` +
    [at.getHours(), at.getMinutes(), at.getSeconds()].map((n) => part(n)).join(":");
}

// The first wrong field, or the summary where no field is wrong.
(document.querySelector("[aria-invalid=true]") ?? document.getElementById("problem"))?.focus();

localise();
