import { fullTime, relativeTime, zonedTime } from './time.js';

/** The script of all pages. Without it, pages show times in UTC, and update only when they are reloaded. */

/** The clock of this computer may be wrong: its offset from the time in the page. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** Updates relative times, and exact ones (data-point). @param {Document} page */
function updateTimes(page) {
  const now = Date.now() - ahead;
  for (const time of page.querySelectorAll('time')) {
    const exact = zonedTime(time.dateTime);
    const text = 'point' in time.dataset ? exact : relativeTime(Date.parse(time.dateTime), now);
    if (time.textContent !== text) time.textContent = text;
    time.title = `${exact}\n${fullTime(time.dateTime)}`;
  }
}

setInterval(() => updateTimes(document), 1_000);

// Browsers ask for the permission to notify only after a click.
for (const button of document.querySelectorAll('button[data-notifies]')) {
  if (!(button instanceof HTMLButtonElement) || !('Notification' in window)) continue;
  button.hidden = Notification.permission !== 'default';
  button.addEventListener('click', async () => {
    button.hidden = (await Notification.requestPermission()) !== 'default';
  });
}

/** Live pages are fetched again after this pause, and their changed parts replaced. */
const pauseMs = 3_000;
/** Hidden pages are fetched, too, because they can notify. */
const hiddenPauseMs = 30_000;
/** Limits the load on a slow service: the pause is at least this multiple of the time that a fetch takes. */
const pausePerLoad = 4;
const maxPauseMs = 60_000;

let endPause = () => {};
document.addEventListener('visibilitychange', () => endPause());

/** Ends early if the page is shown or hidden. @param {number} ms @returns {Promise<void>} */
const pause = (ms) =>
  new Promise((resolve) => {
    endPause = resolve;
    setTimeout(resolve, ms);
  });

/** Parsed by the browser, which does not run its scripts. @returns {Promise<XMLHttpRequest>} */
const load = () =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open('GET', location.href);
    request.responseType = 'document';
    request.setRequestHeader('accept', 'text/html');
    request.addEventListener('loadend', () => resolve(request));
    request.send();
  });

/** @param {Element} live */
async function follow(live) {
  for (let [failures, tookMs] = [0, 0]; ; ) {
    const leastMs = (document.hidden ? hiddenPauseMs : pauseMs) * 2 ** failures;
    await pause(Math.min(Math.max(leastMs, tookMs * pausePerLoad), maxPauseMs) * (1 + Math.random() / 4));
    const began = performance.now();
    const { status, responseURL, responseXML } = await load();
    tookMs = performance.now() - began;
    // Error pages of a gateway lack this attribute.
    const isOurs = responseXML?.documentElement.hasAttribute('data-now') ?? false;
    const isSignedOut = responseURL !== '' && new URL(responseURL).pathname === '/sign-in';
    if (isSignedOut || (isOurs && (status === 403 || status === 404))) {
      live.textContent = 'This page no longer updates. Reload it.';
      return;
    }
    if (isOurs && status === 200 && responseXML !== null) {
      failures = 0;
      showParts(responseXML);
      showLive(live);
    } else {
      if (failures === 0) {
        live.textContent = `Not connected, as of ${zonedTime(new Date(Date.now() - ahead).toISOString())}.`;
      }
      failures += 1;
    }
  }
}

/** @param {Element} live */
function showLive(live) {
  if (live.querySelector('.state') !== null) return;
  const state = document.createElement('span');
  state.className = 'state';
  state.textContent = 'Live';
  live.replaceChildren(state);
}

/** Texts to notify the viewer of, even in another window. @param {Document} page */
const noticesOf = (page) =>
  [...page.querySelectorAll('[data-notice]')].map((each) => each.getAttribute('data-notice') ?? '');

/** @param {Document} loaded */
function showParts(loaded) {
  const noticed = new Set(noticesOf(document));
  for (const text of noticesOf(loaded)) {
    if (!noticed.has(text) && 'Notification' in window && Notification.permission === 'granted')
      new Notification(text, { tag: text });
  }
  // Only parts that differ when both pages show the same time are replaced.
  updateTimes(document);
  updateTimes(loaded);
  for (const part of document.querySelectorAll('[data-part]')) {
    const other = loaded.querySelector(`[data-part="${part.getAttribute('data-part')}"]`);
    if (other !== null && other.innerHTML !== part.innerHTML) replace(part, other);
  }
}

/** @param {Element} control */
const nameOf = (control) =>
  ['href', 'value', 'aria-label'].map((name) => control.getAttribute(name)).join(' ') + control.textContent;

/** Keeps checked boxes and the keyboard focus. @param {Element} part @param {Element} other */
function replace(part, other) {
  const checked = new Set([...part.querySelectorAll(':checked')].map(nameOf));
  const focused = part.querySelector(':focus');
  part.replaceChildren(...other.childNodes);
  for (const box of part.querySelectorAll('input[type="checkbox"]')) {
    if (box instanceof HTMLInputElement) box.checked = checked.has(nameOf(box));
  }
  if (focused === null) return;
  const again = [...part.querySelectorAll('a, button, input')].find((control) => nameOf(control) === nameOf(focused));
  const next = again ?? document.querySelector('main');
  if (next instanceof HTMLElement) next.focus({ preventScroll: true });
}

const live = document.querySelector('#live');
if (live !== null) {
  showLive(live);
  void follow(live);
}
