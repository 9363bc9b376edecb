"use strict";
(() => {
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const form = document.getElementById("filter");
  const search = document.getElementById("search");
  const status = document.getElementById("status");
  const items = all(".item").map((element) => ({ element, data: element.dataset, text: null }));
  const files = all(".file");

  const chosen = (name) => new Set(all(`input[name=${name}]:checked`, form).map((box) => box.value));
  const has = (item, word) => (item.text ??= item.element.textContent.toLowerCase() + " " + fileOf(item)).includes(word);
  const fileOf = ({ element }) => element.closest(".file")?.querySelector("h3").textContent.toLowerCase() ?? "";

  function filter() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [levels, states, verdicts] = ["level", "status", "verdict"].map(chosen);
    const count = { finding: 0, site: 0 };
    for (const item of items) {
      const { level, status: state, verdict } = item.data;
      const wanted = verdict ? verdicts.has(verdict) : state === "new" ? levels.has(level) : states.has(state);
      item.element.hidden = !(wanted && words.every((word) => has(item, word)));
      if (!item.element.hidden) count[verdict ? "site" : "finding"] += 1;
    }
    for (const file of files) file.hidden = !file.querySelector(".item:not([hidden])");
    const of = (kind) => `${count[kind]} of ${all(`.item.${kind}`).length} ${kind}s`;
    status.textContent = `${of("finding")}, ${of("site")}`;
  }

  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filter, 120);
  });
  form.addEventListener("change", filter);
  form.addEventListener("submit", (event) => event.preventDefault());

  const shown = () => all(".item:not([hidden]) > summary");
  function step(by) {
    const list = shown();
    const here = list.indexOf(document.activeElement?.closest?.(".item")?.querySelector("summary"));
    const next = list[Math.min(Math.max(here + by, 0), list.length - 1)];
    next?.focus();
    next?.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      search.value = "";
      for (const box of all("input[type=checkbox]", form)) box.checked = true;
      filter();
      document.activeElement?.blur?.();
      return;
    }
    if (event.target.closest?.("input, textarea")) return;
    const item = document.activeElement?.closest?.(".item");
    if (event.key === "/") search.focus();
    else if (event.key === "j") step(1);
    else if (event.key === "k") step(-1);
    else if (event.key === "o" && item) item.open = !item.open;
    else return;
    event.preventDefault();
  });

  function reveal() {
    const goal = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let one = goal; one; one = one.parentElement) {
      one.hidden &&= false;
      if (one.tagName === "DETAILS") one.open = true;
    }
    goal?.scrollIntoView();
  }
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = all(".finding:not([open]):not([hidden])");
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => {
    for (const one of closed) one.open = false;
  });

  form.hidden = false;
  filter();
})();
