/** Fills in what was not known of the branches when the list of workspaces was opened, as the remotes answer. */

/** So many at a time: a browser has six connections to a host, and other pages of it need some. */
const atOnce = 2;

const waiting = [...document.querySelectorAll('[data-summary]')];

/** @param {Element} cell @param {{ state: string, text: string, more: string }} summary */
function fill(cell, { state, text, more }) {
  const [word, rest] = cell.children;
  if (word === undefined || rest === undefined) return;
  word.className = `state ${state}`;
  word.textContent = text;
  rest.textContent = more;
}

const unanswered = { state: 'unknown', text: 'not known', more: '' };

async function fillAll() {
  for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
    try {
      const answer = await fetch(cell.getAttribute('data-summary') ?? '');
      fill(cell, answer.ok ? await answer.json() : unanswered);
    } catch {
      fill(cell, unanswered);
    }
  }
}

for (let each = 0; each < atOnce; each += 1) fillAll();
