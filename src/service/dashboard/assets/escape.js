/** Escape follows the link that leads back. */

const back = document.querySelector('a[data-escape]');

document.addEventListener('keydown', (event) => {
  // Escape also ends the choice of an input method.
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
  if (back instanceof HTMLAnchorElement) back.click();
});
