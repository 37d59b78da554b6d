// Replies as they are written, and keys of the composer. A connection that breaks is made anew, and misses nothing.
"use strict";
(() => {
  const status = (text) => { document.getElementById("status").textContent = text; };
  const title = document.title;
  let source = null;

  // Put a new picture of a reply in place of the old one, and leave alone what is the same in both: what is marked,
  // focused or opened stays so.
  const isPlain = (node) => node.nodeType === 1 && !node.matches("details, pre");
  const grow = (old, fresh) => {
    let at = 0;
    for (const next of [...fresh.childNodes]) {
      const now = old.childNodes[at];
      if (!now) old.append(next);
      else if (now.nodeType === 1 && now.nodeName === next.nodeName && now.className === next.className && isPlain(now) && !now.isEqualNode(next) && now.childNodes.length) grow(now, next);
      else if (!now.isEqualNode(next)) now.replaceWith(next);
      at += 1;
    }
    while (old.childNodes.length > at) old.lastChild.remove();
  };
  const show = (box, html) => {
    const fresh = document.createElement("template");
    fresh.innerHTML = html;
    const atEnd = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - 80;
    grow(box, fresh.content);
    if (atEnd) window.scrollTo({ top: document.documentElement.scrollHeight });
  };
  const reload = (box) => htmx.ajax("GET", box.dataset.thread, { target: "#thread", swap: "innerHTML" });

  const follow = () => {
    const box = document.querySelector("[data-stream]");
    if (source) source.close();
    source = null;
    if (!box) return;
    status("The reply is being written.");
    const mine = source = new EventSource(box.dataset.stream);
    mine.addEventListener("frame", (event) => { if (mine === source) show(box, event.data); });
    mine.addEventListener("done", () => {
      mine.close();
      if (mine !== source) return;
      status("The reply is finished.");
      if (document.hidden) document.title = `● ${title}`;
      reload(box);
    });
    mine.addEventListener("open", () => document.dispatchEvent(new Event("lilbee:found")));
    mine.addEventListener("error", () => {
      if (mine !== source) return;
      document.dispatchEvent(new Event("lilbee:lost"));
      // The browser asks again by itself, unless the server says that there is nothing to wait for.
      if (mine.readyState === EventSource.CLOSED) setTimeout(() => { if (mine === source) reload(box); }, 2000);
    });
  };

  const prepare = () => {
    if (navigator.clipboard) for (const one of document.querySelectorAll("[data-copy]")) one.hidden = false;
    follow();
  };
  document.addEventListener("DOMContentLoaded", () => {
    const last = [...document.querySelectorAll(".thread .turn")].pop();
    if (last && !location.hash) last.scrollIntoView({ block: "nearest" });
    prepare();
  });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) document.title = title; });
  document.addEventListener("htmx:afterSettle", (event) => { if (event.detail.target.id === "thread") prepare(); });
  document.addEventListener("htmx:afterRequest", (event) => {
    const form = event.detail.elt;
    if (form.id !== "composer" || !event.detail.successful) return;
    form.reset();
    form.elements.message.value = "";
    form.elements.message.focus();
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-copy]");
    if (button) navigator.clipboard.writeText(button.dataset.copy).then(() => status("Copied."));
  });
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("#message, [data-enter], .edit textarea");
    if (event.key === "Enter" && field && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (field.value.trim()) field.form.requestSubmit(field.form.querySelector("button.main"));
    } else if (event.key === "Escape") {
      const stop = document.getElementById("stop");
      if (stop) stop.form.requestSubmit(stop);
    }
  });
})();
