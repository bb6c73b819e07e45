// Keep [data-live] up to date while the page can be seen: ask its address, swap what changed.
// The element's own data-live-done stops it; [data-live-pause] lets the reader stop and resume all.
// data-live-seconds says how often. Without script the page has a "reload" link instead.
const SECONDS = 2;
let isPaused = false;

// A swap must not take the keyboard away: the same control of the new part gets the focus.
const swap = (box, html) => {
  const held = box.contains(document.activeElement) ? document.activeElement : null;
  // A wide table stays where it was scrolled to.
  const scrolled = [...box.querySelectorAll(".scroll")].map((table) => table.scrollLeft);
  box.innerHTML = html;
  box.querySelectorAll(".scroll").forEach((table, index) => (table.scrollLeft = scrolled[index] ?? 0));
  if (!held) return;
  const alike = [...box.querySelectorAll(held.tagName)].find(
    (element) => element.textContent === held.textContent,
  );
  (alike ?? box).focus({ preventScroll: true });
};

for (const box of document.querySelectorAll("[data-live]")) {
  let etag = "";
  const ask = async () => {
    if (document.hidden || isPaused) return;
    const headers = etag ? { "If-None-Match": etag } : {};
    try {
      const answer = await fetch(box.dataset.live, { headers, cache: "no-store" });
      box.classList.toggle("is-stale", !answer.ok && answer.status !== 304);
      if (answer.status === 200) {
        etag = answer.headers.get("ETag") ?? "";
        swap(box, await answer.text());
      }
    } catch {
      box.classList.add("is-stale");
    }
    if (box.querySelector("[data-live-done]")) clearInterval(timer);
  };
  const timer = setInterval(ask, (box.dataset.liveSeconds ?? SECONDS) * 1000);
  document.addEventListener("visibilitychange", ask);
  box.tabIndex = -1;
}

for (const button of document.querySelectorAll("[data-live-pause]")) {
  const words = [button.textContent, button.dataset.livePause];
  button.hidden = false;
  button.addEventListener("click", () => {
    isPaused = !isPaused;
    button.textContent = words[Number(isPaused)];
  });
}
