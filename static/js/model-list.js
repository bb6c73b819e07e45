// The list of GPU models: keep what was ticked for a comparison while the list is filtered, and
// keep empty filters out of the address. Without script the form sends what is ticked on the page.
const picks = document.querySelector("[data-picks]");
const picked = new Map();
const told = document.querySelector("[data-picked]");
const nothing = told?.textContent;

const boxes = () => [...document.querySelectorAll("[data-pick]")];

const show = () => {
  for (const old of picks.querySelectorAll("[data-kept]")) old.remove();
  const rest = new Set(picked.keys());
  for (const box of boxes()) {
    box.checked = picked.has(box.value);
    box.closest("tr").classList.toggle("mine", box.checked);
    rest.delete(box.value);
  }
  for (const slug of rest) {
    const kept = Object.assign(document.createElement("input"), { type: "hidden", name: "cards", value: slug });
    kept.dataset.kept = "";
    picks.append(kept);
  }
  told.textContent = picked.size ? [...picked.values()].join(", ") : nothing;
};

if (picks) {
  for (const box of boxes()) if (box.checked) picked.set(box.value, box.dataset.pick);
  show();
  document.addEventListener("change", ({ target }) => {
    if (!target.matches("[data-pick]")) return;
    if (target.checked) picked.set(target.value, target.dataset.pick);
    else picked.delete(target.value);
    show();
  });
  document.addEventListener("htmx:after:swap", show);
}

// Enter in the price field changes the form and sends it: one question, and one step back.
let asked = "";
addEventListener("popstate", () => {
  asked = "";
});
document.addEventListener("htmx:config:request", (event) => {
  if (!event.target.matches("[data-filters]")) return;
  const { body } = event.detail.ctx.request;
  for (const [name, value] of [...body]) if (value === "") body.delete(name);
  const question = new URLSearchParams(body).toString();
  if (question === asked) event.preventDefault();
  asked = question;
});
