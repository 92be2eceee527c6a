import { fullTime, isUrgent, relativeTime, timeLeft, zonedTime } from './time.js';

/** Keeps the times on the page up to date. */

/** Offset of this computer's clock, which may be wrong, from the time that the page contains. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** Current time by the clock of the service. */
export const serviceNow = () => Date.now() - ahead;

/** @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The time in the reader's time zone, and in UTC if that differs. @param {string} timestamp */
function bothTimes(timestamp) {
  const [here, everywhere] = [zonedTime(timestamp), fullTime(timestamp)];
  return here === everywhere ? here : `${here}\n${everywhere}`;
}

/** Timestamps in the titles of elements. Saves work: all are checked each second, but rarely change. @type {WeakMap<HTMLElement, string>} */
const told = new WeakMap();

/** @param {HTMLElement} element @param {string} timestamp @param {(timestamp: string) => string} titleOf */
function setTitle(element, timestamp, titleOf) {
  if (told.get(element) === timestamp) return;
  told.set(element, timestamp);
  element.title = titleOf(timestamp);
}

/** Shows a relative time, or the exact time if the element is marked with data-point. @param {HTMLElement} element @param {string} timestamp */
export function showTime(element, timestamp) {
  element.setAttribute('datetime', timestamp);
  const isPoint = 'point' in element.dataset;
  setText(element, isPoint ? zonedTime(timestamp) : relativeTime(Date.parse(timestamp), serviceNow()));
  setTitle(element, timestamp, isPoint ? fullTime : bothTimes);
}

/** @param {HTMLElement} element @param {string} until */
export function showCountdown(element, until) {
  const left = Date.parse(until) - serviceNow();
  element.dataset['until'] = until;
  setText(element, timeLeft(left));
  setTitle(element, until, bothTimes);
  element.classList.toggle('urgent', isUrgent(left));
}

export function updateTimes() {
  for (const time of document.querySelectorAll('time')) {
    if (time.dateTime !== '') showTime(time, time.dateTime);
  }
}

/** @param {ParentNode} root */
export function updateCountdowns(root) {
  for (const element of root.querySelectorAll('[data-until]')) {
    if (element instanceof HTMLElement) showCountdown(element, element.dataset['until'] ?? '');
  }
}
