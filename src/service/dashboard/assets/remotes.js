import { refreshParts } from './refresh.js';

/** Shows the answers of remotes that had not answered when the page was rendered. */

/** Maximum number of parallel requests: a browser has six connections per host, and other pages need some. */
const maxParallel = 2;

const unknown = { state: 'unknown', text: 'unknown', more: '' };

/** The state of the branches once the remote has answered; unknown if the request fails. @param {string | null} url */
const fetchSummary = (url) =>
  fetch(url ?? '')
    .then((response) => (response.ok ? response.json() : unknown))
    .catch(() => unknown);

/** The states in the list of workspaces. */
const cells = [...document.querySelectorAll('[data-summary]')];

async function fillCells() {
  for (let cell = cells.shift(); cell !== undefined; cell = cells.shift()) {
    const { state, text, more } = await fetchSummary(cell.getAttribute('data-summary'));
    const [word, rest] = cell.children;
    if (word === undefined || rest === undefined) continue;
    word.className = `state ${state}`;
    word.textContent = text;
    rest.textContent = more;
  }
}

if (cells.length > 0) {
  await Promise.all(Array.from({ length: maxParallel }, fillCells));
  // The branches that need a sync are known now.
  await refreshParts();
}

/** The list of branches asks again while the refreshed page still waits, such as after a sync that ended meanwhile. */
const maxRequests = 10;
const pauseMs = 1_000;

for (let count = 0; count < maxRequests; count += 1) {
  const notice = document.querySelector('[data-awaits]');
  if (notice === null) break;
  if ((await fetchSummary(notice.getAttribute('data-awaits'))) !== unknown) {
    await untilUnused();
    await refreshParts();
  }
  await new Promise((resolve) => setTimeout(resolve, pauseMs));
}
showNotice('The state of the remote is unknown.');

/** Resolved when no control has the focus: a refresh would lose the user's input. */
async function untilUnused() {
  while (document.activeElement?.matches('main input, main select, main button')) {
    showNotice('The remote has answered.');
    // The next control gets the focus after this event.
    await new Promise((resolve) => {
      document.addEventListener('focusout', () => setTimeout(resolve), { once: true });
    });
  }
}

/** @param {string} text the first sentence of the notice, if the page has one */
function showNotice(text) {
  document.querySelector('[data-awaits] span')?.replaceChildren(text);
}
