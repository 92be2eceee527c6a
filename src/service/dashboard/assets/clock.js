import { fullTime, isUrgent, relativeTime, timeLeft, zonedTime } from './time.js';

/** Keeps the times of the page true as time passes. */

/** The clock of this computer may be wrong: the page says what time it is. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** By the clock of the service. */
export const serviceNow = () => Date.now() - ahead;

/** @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** In the reader's zone and in UTC, where these differ. @param {string} timestamp */
function bothTimes(timestamp) {
  const [here, everywhere] = [zonedTime(timestamp), fullTime(timestamp)];
  return here === everywhere ? here : `${here}\n${everywhere}`;
}

/** What the titles of elements tell: times hardly ever change, and each second all of them are looked at. @type {WeakMap<HTMLElement, string>} */
const told = new WeakMap();

/** @param {HTMLElement} element @param {string} timestamp @param {(timestamp: string) => string} titleOf */
function setTitle(element, timestamp, titleOf) {
  if (told.get(element) === timestamp) return;
  told.set(element, timestamp);
  element.title = titleOf(timestamp);
}

/** How long ago it was, or when it is where it is marked as a point in time. @param {HTMLElement} element @param {string} timestamp */
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
