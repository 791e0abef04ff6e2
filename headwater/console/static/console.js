// What the pages do beyond HTML: refresh themselves, answer keys, remember the theme.
"use strict";

const EVERY = 2000;
const THEMES = ["", "light", "dark"];
const root = document.documentElement;

const theme = () => {
  try { return localStorage.getItem("theme") || ""; } catch { return ""; }
};
const paint = () => { root.dataset.theme = theme(); };
paint();

const nextTheme = () => {
  const next = THEMES[(THEMES.indexOf(theme()) + 1) % THEMES.length];
  try { localStorage.setItem("theme", next); } catch { /* a private window keeps none */ }
  paint();
};

const one = (selector) => document.querySelector(selector);

// A hidden page asks for nothing, so the console of a run can go to sleep.
const refresh = () => {
  const live = one("[data-live]");
  if (live && !document.hidden && window.htmx) htmx.trigger(live, "refresh");
};
setInterval(refresh, EVERY);
document.addEventListener("visibilitychange", refresh);

const answered = (yes) => document.body.classList.toggle("lost", !yes);
document.addEventListener("htmx:after:request", (event) => {
  answered(true);
  // The console has been started anew, and does not know this page any more.
  if (event.detail.ctx?.response?.status === 403) location.reload();
});
document.addEventListener("htmx:error", () => answered(false));

const filter = () => {
  const wanted = (one("#filter")?.value || "").trim().toLowerCase();
  for (const row of document.querySelectorAll("tr[data-name]")) {
    row.hidden = !row.dataset.name.includes(wanted);
  }
  for (const box of document.querySelectorAll(".box")) {
    box.style.opacity = box.dataset.name.includes(wanted) ? "" : "0.25";
  }
};
document.addEventListener("input", (event) => { if (event.target.id === "filter") filter(); });
document.addEventListener("htmx:after:swap", () => { filter(); trace(document.activeElement); });

// The lines of the box that has the focus, or is pointed at.
const trace = (box) => {
  const name = box?.closest?.(".box")?.dataset.name;
  for (const line of document.querySelectorAll(".lines path")) {
    line.classList.toggle("near", line.dataset.source === name || line.dataset.target === name);
  }
};
document.addEventListener("focusin", (event) => trace(event.target));
document.addEventListener("mouseover", (event) => {
  trace(event.target.closest?.(".box") ? event.target : document.activeElement);
});

const place = (box) => box.transform.baseVal[0].matrix;
const step = (box, key) => {
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const name = key === "ArrowLeft" ? box.dataset.before : box.dataset.after;
    return name && document.getElementById(`box-${name}`);
  }
  const down = key === "ArrowDown" ? 1 : -1;
  const { e: x, f: y } = place(box);
  return [...document.querySelectorAll(".box")]
    .filter((each) => place(each).e === x && (place(each).f - y) * down > 0)
    .sort((a, b) => (place(a).f - place(b).f) * down)[0];
};

const PAGES = { o: "/", s: "/sql", q: "/quarantine" };
let went = 0;
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Enter" && (event.ctrlKey || event.metaKey) && target.id === "sql") {
    event.preventDefault();
    target.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || one("dialog[open]")) return;
  if (target.matches("input, textarea")) {
    if (key === "Escape") target.blur();
    return;
  }
  if (key.startsWith("Arrow") && target.matches(".box")) {
    event.preventDefault();
    step(target, key)?.focus();
  } else if (key === "/" && one("#filter")) {
    event.preventDefault();
    one("#filter").focus();
  } else if (key === "?") {
    one("#keys").showModal();
  } else if (key === "t") {
    nextTheme();
  } else if (key === "g") {
    went = Date.now();
  } else if (Date.now() - went < 1000 && PAGES[key]) {
    location.assign(PAGES[key]);
  } else if (/^[1-9]$/.test(key)) {
    one(`.tabs a[data-key="${key}"]`)?.click();
  }
});

document.addEventListener("click", (event) => {
  if (event.target.closest("#theme")) nextTheme();
  if (event.target.closest("#help")) one("#keys").showModal();
});
