/**
 * The menus in the rows of locks. If a row is removed while its menu is open, another row moves under the pointer. A
 * click that was meant for the menu must then have no effect.
 */

/** @param {HTMLElement} body of the table */
export function createLockMenus(body) {
  /** The open menu, even after its row was removed. @type {HTMLDetailsElement | undefined} */
  let menu;
  let isMeantForMenu = false;

  // The toggle event does not bubble, so it is captured.
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

  // After a mouse move, the user has seen that the menu is gone.
  document.addEventListener('pointermove', ({ pointerType }) => {
    if (pointerType === 'mouse' && menu?.isConnected === false) menu = undefined;
  });
  // Captured, to run before the focus moves and closes the menu.
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
    // The detail of a click is 0 if the keyboard caused it.
    if (detail > 0 && isMeantForMenu && target.closest('.lock-actions a') !== null) event.preventDefault();
    const button = target.closest('.copy');
    if (!(button instanceof HTMLButtonElement)) return;
    await navigator.clipboard.writeText(button.value);
    button.textContent = 'Copied';
  });
}
