// What a job tells while one looks on. A connection that breaks is made anew by the browser, and goes on where it was.
"use strict";
(() => {
  const MOST_LINES = 500;
  const follow = () => {
    const log = document.querySelector("[data-events]");
    if (!log) return;
    const source = new EventSource(log.dataset.events);
    source.addEventListener("told", (event) => {
      const told = JSON.parse(event.data), bar = document.querySelector("#job progress");
      if (told.line) {
        const line = Object.assign(document.createElement("li"), { textContent: told.line });
        if (told.bad) line.className = "bad";
        log.append(line);
        while (log.children.length > MOST_LINES) log.firstElementChild.remove();
      } else if (bar) {
        document.querySelector("[data-far]").textContent = told.far;
        if (told.share === null) bar.removeAttribute("value");
        else bar.value = told.share;
      }
    });
    const load = () => {
      source.close();
      htmx.ajax("GET", log.dataset.page, { target: "#job", swap: "innerHTML" });
    };
    source.addEventListener("JobFinished", load);
    source.addEventListener("open", () => document.dispatchEvent(new Event("lilbee:found")));
    source.addEventListener("error", () => {
      document.dispatchEvent(new Event("lilbee:lost"));
      // The browser asks again by itself, unless the server, begun anew perhaps, says that there is nothing to follow.
      if (source.readyState === EventSource.CLOSED) load();
    });
  };
  document.addEventListener("DOMContentLoaded", follow);
})();
