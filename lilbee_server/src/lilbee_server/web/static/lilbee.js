// What the page cannot do without a script: keys, what is told to screen readers, and notices that can be closed.
"use strict";
(() => {
  const tell = (text) => {
    const status = document.getElementById("status");
    if (status && text) status.textContent = text;
  };

  // A live region is read out only if it was there before: what new pieces have to say is copied to ours.
  document.addEventListener("htmx:afterSwap", (event) => {
    const said = event.detail.target.querySelector("[data-status]");
    if (said) tell(said.dataset.status);
  });
  const failed = (text) => {
    const last = document.getElementById("toasts").lastElementChild;
    if (last && last.firstElementChild.textContent === text) return last;
    const box = document.createElement("div");
    box.className = "notice bad";
    box.append(Object.assign(document.createElement("p"), { textContent: text }));
    document.getElementById("toasts").append(box);
    return box;
  };
  document.addEventListener("htmx:sendError", () => failed("The server cannot be reached. Is it still running?"));
  document.addEventListener("htmx:timeout", () => failed("The server did not answer in time."));

  // A stream that breaks is made anew by the browser. Who looks on is told if that takes longer than a moment, once.
  const MOMENT_MS = 1500;
  let waiting = 0, lost = null;
  document.addEventListener("lilbee:lost", () => {
    if (waiting || lost) return;
    waiting = setTimeout(() => { lost = failed("The server cannot be reached. This page goes on by itself when it can."); }, MOMENT_MS);
  });
  const found = () => {
    clearTimeout(waiting);
    if (lost) lost.remove();
    waiting = 0;
    lost = null;
  };
  document.addEventListener("lilbee:found", found);
  document.addEventListener("htmx:afterRequest", (event) => { if (event.detail.xhr.status) found(); });
  const closeLater = new MutationObserver((changes) => {
    for (const change of changes) for (const one of change.addedNodes) if (one.nodeType === 1) {
      const close = Object.assign(document.createElement("button"), { className: "quiet", textContent: "Close" });
      close.addEventListener("click", () => one.remove());
      one.append(close);
    }
  });

  const isTyping = (target) => target.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");
  const moveTo = (step) => {
    const links = [...document.querySelectorAll(".hits h2 a")];
    const at = links.indexOf(document.activeElement);
    const next = links[at + step];
    if (next) next.focus();
    else if (step < 0 && at === 0) document.getElementById("q").focus();
    return Boolean(next);
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const field = document.getElementById("q");
    const onHit = event.target.closest(".hits h2");
    if (event.key === "/" && !isTyping(event.target) && field) {
      field.focus();
      field.select();
    } else if (event.key === "Escape" && document.getElementById("toasts").children.length) {
      document.getElementById("toasts").replaceChildren();
    } else if (event.key === "ArrowDown" && (event.target === field || onHit)) moveTo(1);
    else if (event.key === "ArrowUp" && onHit) moveTo(-1);
    else return;
    event.preventDefault();
  });

  // The whole passage where it fits into the window, else the first word of the query in it.
  const showPassage = () => {
    const parts = [...document.querySelectorAll("mark.here")];
    if (!parts.length) return;
    const top = parts[0].getBoundingClientRect().top + scrollY;
    const height = parts[parts.length - 1].getBoundingClientRect().bottom + scrollY - top;
    const room = innerHeight - 120;
    const word = document.querySelector("mark.here b");
    if (height > room && word) word.scrollIntoView({ block: "center" });
    else scrollTo(0, top - 100 - Math.max(0, room - height) / 3);
  };

  document.addEventListener("DOMContentLoaded", () => {
    closeLater.observe(document.getElementById("toasts"), { childList: true });
    showPassage();
  });
})();
