// Keep [data-live] up to date while the page can be seen: ask its address, swap what changed.
// The element's own data-live-done stops it. Without script the page has a "reload" link instead.
const SECONDS = 2;

// A swap must not take the keyboard away: the same control of the new part gets the focus.
const swap = (box, html) => {
  const held = box.contains(document.activeElement) ? document.activeElement : null;
  box.innerHTML = html;
  if (!held) return;
  const alike = [...box.querySelectorAll(held.tagName)].find(
    (element) => element.textContent === held.textContent,
  );
  (alike ?? box).focus({ preventScroll: true });
};

for (const box of document.querySelectorAll("[data-live]")) {
  let etag = "";
  const ask = async () => {
    if (document.hidden) return;
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
  const timer = setInterval(ask, SECONDS * 1000);
  document.addEventListener("visibilitychange", ask);
  box.tabIndex = -1;
}
