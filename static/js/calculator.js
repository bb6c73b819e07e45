// The calculator: the answer follows the form while it is filled in, and the address follows too.
// Sliders and their boxes keep together. Without script a button sends the form.
const WAIT_MS = 40;
const grouped = new Intl.NumberFormat(document.documentElement.lang);
const running = new WeakMap();

const stopsOf = (slider) => slider.dataset.stops.split(",").map(Number);

const tell = (slider) => slider.setAttribute("aria-valuetext", grouped.format(stopsOf(slider)[slider.value]));

// The stop that is nearest as a factor: from 512 to 1024 is as far as from 1024 to 2048.
const follow = (slider, value) => {
  const stops = stopsOf(slider);
  const far = (stop) => Math.abs(Math.log(stop / value));
  slider.value = stops.reduce((best, stop, place) => (far(stop) < far(stops[best]) ? place : best), 0);
  tell(slider);
};

const keepTogether = (form, target) => {
  if (target.dataset.stops) {
    form.querySelector(`#${target.dataset.box}`).value = stopsOf(target)[target.value];
    tell(target);
    return;
  }
  const slider = target.id && form.querySelector(`[data-box="${target.id}"]`);
  const value = Number(target.value.replace(/\D/g, ""));
  if (slider && value > 0) follow(slider, value);
};

const queryOf = (form) => {
  const query = new URLSearchParams(new FormData(form));
  for (const [name, value] of [...query]) if (value === "") query.delete(name);
  return query;
};

// Fields come anew when their set or their errors change; what is being typed stays as it is.
const swapFields = (form, fresh) => {
  if (form.dataset.shape === fresh.dataset.shape) {
    for (const told of form.querySelectorAll("[data-told]"))
      told.innerHTML = fresh.querySelector(`#${told.id}`)?.innerHTML ?? "";
    return;
  }
  const held = form.contains(document.activeElement) ? document.activeElement : null;
  const open = [...form.querySelectorAll("details")].map((part) => part.open);
  form.innerHTML = fresh.innerHTML;
  form.dataset.shape = fresh.dataset.shape;
  form.querySelectorAll("details").forEach((part, place) => (part.open ||= open[place] ?? false));
  prepare(form);
  const same = held?.id && form.querySelector(`#${held.id}`);
  if (!same) return;
  if (held.matches("input:not([type=range]):not([type=radio])")) same.value = held.value;
  same.focus({ preventScroll: true });
  if (held.selectionStart != null && same.setSelectionRange) same.setSelectionRange(held.selectionStart, held.selectionEnd);
};

const show = (form, region, text) => {
  const fresh = new DOMParser().parseFromString(text, "text/html");
  const scrolled = [...region.querySelectorAll(".scroll")].map((table) => table.scrollLeft);
  const open = new Set([...region.querySelectorAll("details[open]")].map((part) => part.id));
  region.innerHTML = fresh.querySelector(`#${region.id}`).innerHTML;
  region.querySelectorAll(".scroll").forEach((table, place) => (table.scrollLeft = scrolled[place] ?? 0));
  region.querySelectorAll("details").forEach((part) => (part.open ||= open.has(part.id)));
  const fields = fresh.querySelector(`#${form.id}`);
  if (fields) swapFields(form, fields);
  const status = document.querySelector("[data-calculator-status]");
  if (status) status.textContent = region.querySelector("[data-summary]")?.textContent ?? "";
};

const refresh = async (form) => {
  const region = document.getElementById(form.dataset.calculator);
  const address = `${form.action.split("#")[0]}?${queryOf(form)}`;
  running.get(form)?.abort();
  const asked = new AbortController();
  running.set(form, asked);
  region.setAttribute("aria-busy", "true");
  try {
    const part = region.dataset.part ?? "page";
    const answer = await fetch(address, { headers: { "HX-Request": "true", "HX-Target": part }, signal: asked.signal });
    show(form, region, await answer.text());
    region.classList.remove("is-stale");
    const shared = region.querySelector("[data-copy]")?.href ?? address;
    if (part === "page") history.replaceState(null, "", shared);
  } catch (fault) {
    if (fault.name === "AbortError") return;
    region.classList.add("is-stale");
  }
  region.removeAttribute("aria-busy");
};

const waiting = new WeakMap();
const ask = (form) => {
  clearTimeout(waiting.get(form));
  waiting.set(form, setTimeout(() => refresh(form), WAIT_MS));
};

// A list that is searched keeps its chosen entry, whatever is typed.
const search = (box) => {
  const list = document.getElementById(box.dataset.search);
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  list.entries ??= [...list.querySelectorAll("optgroup")].map((group) => [group, [...group.children]]);
  for (const [group, options] of list.entries) {
    const kept = options.filter(
      (option) => option.selected || words.every((word) => `${group.label} ${option.textContent}`.toLowerCase().includes(word)),
    );
    group.replaceChildren(...kept);
    group.hidden = kept.length === 0;
  }
};

const prepare = (form) => {
  for (const slider of form.querySelectorAll("[data-stops]")) tell(slider);
};

for (const form of document.querySelectorAll("[data-calculator]")) {
  prepare(form);
  form.addEventListener("input", ({ target }) => {
    if (target.dataset.search) return search(target);
    keepTogether(form, target);
    ask(form);
  });
  form.addEventListener("submit", (event) => {
    // A block's button leads on to the whole calculator.
    if (document.getElementById(form.dataset.calculator).dataset.part === "summary") return;
    event.preventDefault();
    refresh(form);
  });
}

document.addEventListener("click", async (event) => {
  const link = event.target.closest("[data-copy]");
  if (!link || !navigator.clipboard) return;
  event.preventDefault();
  await navigator.clipboard.writeText(link.href);
  link.textContent = link.dataset.copy;
});

// A model is read into the job as it stands now, not as it stood when the page came.
for (const form of document.querySelectorAll("[data-of-the-job]"))
  form.addEventListener("submit", () => (form.elements.query.value = location.search.slice(1)));
