import { setText } from './clock.js';

/** Which locks are to be released together. They stay selected while their rows are out of sight, and so not in the document. */

/** @typedef {import('./lock-list.js').ShownLock} ShownLock */

/**
 * @typedef {object} LockSelectionOptions
 * @property {HTMLElement} body of the table
 * @property {() => readonly ShownLock[]} shown those that the search finds
 * @property {() => void} changed the boxes have to be filled anew
 */

/** @param {LockSelectionOptions} options */
export function createLockSelection({ body, shown, changed }) {
  const form = document.getElementById('release-selected');
  /** The ids of locks. @type {Set<string>} */
  const selected = new Set();

  function showCount() {
    const count = form?.querySelector('[data-selected]');
    const button = form?.querySelector('button');
    if (count) setText(count, selected.size === 0 ? '' : ` (${selected.size.toLocaleString('en-US')} selected)`);
    if (button) button.disabled = selected.size === 0;
  }

  body.addEventListener('change', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.matches('.select')) return;
    if (target.checked) selected.add(target.value);
    else selected.delete(target.value);
    showCount();
  });
  for (const button of form?.querySelectorAll('[data-select]') ?? []) {
    if (!(button instanceof HTMLElement)) continue;
    button.hidden = false;
    button.addEventListener('click', () => {
      selected.clear();
      if (button.dataset['select'] === 'all') {
        for (const { id, release } of shown()) if (release !== 'none') selected.add(id);
      }
      changed();
    });
  }
  // In place of the boxes that happen to be in the document.
  form?.addEventListener('formdata', ({ formData }) => {
    formData.delete('lock');
    formData.set('locks', [...selected].join(' '));
  });

  return {
    /** @param {Element} row @param {ShownLock} lock */
    fill(row, { id }) {
      const box = row.querySelector('.select');
      if (box instanceof HTMLInputElement) box.checked = selected.has(id);
    },
    /** Forgets those that are gone. @param {ReadonlyMap<string, ShownLock>} locks */
    keep(locks) {
      if (selected.size > 0) {
        const held = new Set([...locks.values()].map(({ id }) => id));
        for (const id of selected) if (!held.has(id)) selected.delete(id);
      }
      showCount();
    },
  };
}
