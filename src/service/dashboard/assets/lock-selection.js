import { setText } from './clock.js';

/** Selection of the locks to release together, with checkboxes. */

/** @param {HTMLElement} body of the table */
export function createLockSelection(body) {
  const form = document.getElementById('release-selected');
  const count = form?.querySelector('[data-selected]');
  const button = form?.querySelector('button');

  function showCount() {
    const selected = body.querySelectorAll('.select:checked').length;
    if (count) setText(count, selected === 0 ? '' : ` (${selected} selected)`);
    if (button) button.disabled = selected === 0;
  }

  body.addEventListener('change', showCount);
  new MutationObserver(showCount).observe(body, { childList: true });
  for (const all of form?.querySelectorAll('[data-select]') ?? []) {
    if (!(all instanceof HTMLElement)) continue;
    all.hidden = false;
    all.addEventListener('click', () => {
      for (const box of body.querySelectorAll('.select')) {
        if (box instanceof HTMLInputElement) box.checked = all.dataset['select'] === 'all';
      }
      showCount();
    });
  }
  showCount();
}
