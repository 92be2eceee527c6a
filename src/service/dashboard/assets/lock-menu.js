/**
 * The menus in the rows of locks. A row may go away while its menu is open, and another comes under the pointer: what was
 * meant for the menu does nothing there.
 */

/**
 * @typedef {object} LockMenuOptions
 * @property {HTMLElement} body of the table
 * @property {(row: Element) => string | undefined} pathOf
 */

/** @param {LockMenuOptions} options */
export function createLockMenus({ body, pathOf }) {
  /** The one that is open, or was when its row went away. @type {HTMLDetailsElement | undefined} */
  let menu;
  let isMeantForMenu = false;

  // It does not bubble.
  body.addEventListener(
    'toggle',
    ({ target }) => {
      if (!(target instanceof HTMLDetailsElement)) return;
      if (target.open) menu = target;
      else if (menu === target) menu = undefined;
      const copy = target.querySelector('.copy');
      if (copy !== null) copy.textContent = 'Copy path';
      if (target.open) target.lastElementChild?.scrollIntoView({ block: 'nearest' });
    },
    { capture: true },
  );

  // Moving the pointer shows the current state.
  document.addEventListener('pointermove', ({ pointerType }) => {
    if (pointerType === 'mouse' && menu?.isConnected === false) menu = undefined;
  });
  // Before the focus moves, which closes a menu.
  document.addEventListener(
    'pointerdown',
    ({ target }) => {
      isMeantForMenu = menu !== undefined && !(target instanceof Node && menu.contains(target));
      if (menu?.isConnected === false) menu = undefined;
    },
    { capture: true },
  );

  body.addEventListener('click', async (event) => {
    const { target, detail } = event;
    if (!(target instanceof Element)) return;
    // With the keyboard there is no pointer, and no detail.
    if (detail > 0 && isMeantForMenu && target.closest('.lock-actions a') !== null) event.preventDefault();
    const button = target.closest('.copy');
    const row = button?.closest('tr');
    const path = row === null || row === undefined ? undefined : pathOf(row);
    if (button === null || path === undefined) return;
    await navigator.clipboard.writeText(path);
    button.textContent = 'Copied';
  });
}
