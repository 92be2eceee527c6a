/**
 * The menus in the rows of locks. A row may go away while its menu is open, and another comes under the pointer: a click
 * that was meant for the menu does nothing there.
 */

/** @param {HTMLElement} body of the table */
export function createLockMenus(body) {
  /** The open menu, also after its row went away. @type {HTMLDetailsElement | undefined} */
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
    if (!(button instanceof HTMLButtonElement)) return;
    await navigator.clipboard.writeText(button.value);
    button.textContent = 'Copied';
  });
}
