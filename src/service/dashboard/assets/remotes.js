import { refreshParts } from './refresh.js';

/** Fills in the state of remotes that had not answered when the page was rendered. */

/** Maximum number of parallel requests: a browser has six connections per host, and other pages need some. */
const maxParallel = 2;

const waiting = [...document.querySelectorAll('[data-summary]')];

/** @param {Element} cell @param {{ state: string, text: string, more: string }} summary */
function fill(cell, { state, text, more }) {
  const [word, rest] = cell.children;
  if (word === undefined || rest === undefined) return;
  word.className = `state ${state}`;
  word.textContent = text;
  rest.textContent = more;
}

const unanswered = { state: 'unknown', text: 'unknown', more: '' };

async function fillAll() {
  for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
    try {
      const response = await fetch(cell.getAttribute('data-summary') ?? '');
      fill(cell, response.ok ? await response.json() : unanswered);
    } catch {
      fill(cell, unanswered);
    }
  }
}

const isAsking = waiting.length > 0;
const allFilled = Promise.all(Array.from({ length: maxParallel }, fillAll));
// The branches that need a sync are known now.
if (isAsking) void allFilled.then(refreshParts);

const notice = document.querySelector('[data-awaits]');

/** Whether a control has the focus: a reload would lose the user's input and selection. */
const isInUse = () => document.activeElement?.matches('main input, main select, main button') ?? false;

if (notice !== null) {
  const response = await fetch(notice.getAttribute('data-awaits') ?? '').catch(() => undefined);
  const again = notice.querySelector('a');
  if (response?.ok && !isInUse()) location.replace(again?.href ?? '');
  else if (response?.ok) notice.firstChild?.replaceWith('The remote has answered. ');
}
