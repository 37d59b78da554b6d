// Files that are dropped on the form are chosen in its field, and what is too large is said before it is sent.
"use strict";
document.addEventListener("DOMContentLoaded", () => {
  for (const form of document.querySelectorAll("form[data-drop]")) {
    const field = form.querySelector("input[type=file]"), told = form.querySelector("[data-chosen]");
    const most = Number(field.dataset.mostMb) * 1e6, mostFiles = Number(field.dataset.mostFiles);
    form.querySelector("[data-drop-hint]").hidden = false;
    const check = () => {
      const files = [...field.files], large = files.filter((one) => one.size > most);
      const wrong = large.length ? `Too large: ${large.map((one) => one.name).join(", ")}.`
        : files.length > mostFiles ? `That are ${files.length} files.` : "";
      field.setCustomValidity(wrong);
      told.textContent = files.length ? `${files.length} chosen: ${files.slice(0, 5).map((one) => one.name).join(", ")}. ${wrong}` : "";
    };
    field.addEventListener("change", check);
    form.addEventListener("dragover", (event) => {
      if (![...event.dataTransfer.types].includes("Files")) return;
      event.preventDefault();
      form.classList.add("over");
    });
    form.addEventListener("dragleave", () => form.classList.remove("over"));
    form.addEventListener("drop", (event) => {
      event.preventDefault();
      form.classList.remove("over");
      if (!event.dataTransfer.files.length) return;
      field.files = event.dataTransfer.files;
      check();
      form.querySelector("button").focus();
    });
  }
});
