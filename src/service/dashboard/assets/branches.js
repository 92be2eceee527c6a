/** Shows the branches once the remote has answered, which it had not when the page was opened. */

const notice = document.querySelector('[data-awaits]');

/** Whoever types or chooses in the page would lose it. */
const isInUse = () => document.activeElement?.matches('main input, main select, main button') ?? false;

if (notice !== null) {
  const answer = await fetch(notice.getAttribute('data-awaits') ?? '').catch(() => undefined);
  const again = notice.querySelector('a');
  if (answer?.ok && !isInUse()) location.replace(again?.href ?? '');
  else if (answer?.ok) notice.firstChild?.replaceWith('The remote has been asked. ');
}
