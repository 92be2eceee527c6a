import './live.js';

/** The list of locks: the button that releases the selected locks counts them. */

const main = document.querySelector('main');
if (main === null) throw new Error('The page has no main element.');

function showSelected() {
  const release = document.querySelector('#release-selected button');
  if (!(release instanceof HTMLButtonElement)) return;
  const selected = document.querySelectorAll('.select:checked').length;
  release.disabled = selected === 0;
  const text = selected === 0 ? 'Release selected' : `Release selected (${selected})`;
  if (release.textContent !== text) release.textContent = text;
}

main.addEventListener('change', showSelected);
new MutationObserver(showSelected).observe(main, { childList: true, subtree: true });
showSelected();
