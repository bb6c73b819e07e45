// Dialogs: [data-dialog-open] opens the <dialog> it names, [data-dialog-close] closes it.
// The browser keeps the focus inside, closes on Escape and gives the focus back.
document.addEventListener("click", (event) => {
  const opener = event.target.closest("[data-dialog-open]");
  const closer = event.target.closest("[data-dialog-close]");
  if (opener) document.getElementById(opener.dataset.dialogOpen).showModal();
  else if (closer?.closest("dialog[open]")) closer.closest("dialog").close();
  else if (event.target.matches("dialog[open][data-dialog]")) event.target.close();
  else return;
  event.preventDefault();
});
