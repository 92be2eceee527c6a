import { fullTime, isUrgent, relativeTime, timeLeft, zonedTime } from './time.js';

/** Keeps the times on the page up to date. */

/** Offset of this computer's clock, which may be wrong, from the time that the page contains. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** Current time by the clock of the service. */
export const serviceNow = () => Date.now() - ahead;

/** Shows relative times, countdowns, and the exact times of elements with data-point. */
export function updateTimes() {
  for (const time of document.querySelectorAll('time')) {
    const { dateTime: at } = time;
    if (at === '') continue;
    if ('point' in time.dataset) show(time, zonedTime(at), fullTime(at));
    else show(time, relativeTime(Date.parse(at), serviceNow()), bothTimes(at));
  }
  for (const element of document.querySelectorAll('[data-until]')) {
    if (!(element instanceof HTMLElement)) continue;
    const until = element.dataset['until'] ?? '';
    const left = Date.parse(until) - serviceNow();
    show(element, timeLeft(left), bothTimes(until));
    element.classList.toggle('urgent', isUrgent(left));
  }
}

/** The time in the reader's time zone, and in UTC if that differs. @param {string} timestamp */
function bothTimes(timestamp) {
  const [here, everywhere] = [zonedTime(timestamp), fullTime(timestamp)];
  return here === everywhere ? here : `${here}\n${everywhere}`;
}

/** @param {HTMLElement} element @param {string} text @param {string} title */
function show(element, text, title) {
  if (element.textContent !== text) element.textContent = text;
  if (element.title !== title) element.title = title;
}
