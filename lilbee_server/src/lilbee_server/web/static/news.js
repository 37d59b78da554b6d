// Replies that were finished while one looked elsewhere: a dot beside Chat, and a notice for each. Asked for every 10 s.
"use strict";
(() => {
  const EVERY_MS = 10000;
  const add = (to, name, values) => to.appendChild(Object.assign(document.createElement(name), values));
  const ask = async () => {
    const dot = document.getElementById("unseen-replies");
    if (!dot || document.hidden) return;
    let told;
    try {
      const answer = await fetch(`${dot.dataset.news}?here=${encodeURIComponent(location.pathname)}`, { redirect: "error" });
      if (!answer.ok) return;
      told = await answer.json();
    } catch { return; } // the server is gone, or the session: whatever one does next says so
    dot.replaceChildren();
    if (told.unseen) {
      add(dot, "span", { className: "dot" });
      add(dot, "span", { className: "unseen", textContent: told.unseen === 1 ? ", 1 new reply" : `, ${told.unseen} new replies` });
    }
    for (const one of told.news) {
      const box = add(document.getElementById("toasts"), "div", { className: "notice good" });
      const line = add(box, "p", { textContent: "A reply is finished: " });
      add(line, "a", { href: one.url, textContent: one.title });
    }
  };
  document.addEventListener("DOMContentLoaded", () => { setTimeout(ask, 1000); setInterval(ask, EVERY_MS); });
  document.addEventListener("visibilitychange", ask);
})();
