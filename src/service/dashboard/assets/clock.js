import { isUrgent, relativeTime, timeLeft } from './time.js';

/** Keeps the times of the page true as time passes. */

/** The clock of this computer may be wrong: the page says what time it is. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** By the clock of the service. */
export const serviceNow = () => Date.now() - ahead;

/** @param {Element} element @param {string} text */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function updateTimes() {
  const now = serviceNow();
  for (const time of document.querySelectorAll('time[datetime]')) {
    setText(time, relativeTime(Date.parse(time.getAttribute('datetime') ?? ''), now));
  }
}

/** @param {ParentNode} root */
export function updateCountdowns(root) {
  const now = serviceNow();
  for (const element of root.querySelectorAll('[data-until]')) {
    const left = Date.parse(element.getAttribute('data-until') ?? '') - now;
    setText(element, timeLeft(left));
    element.classList.toggle('urgent', isUrgent(left));
  }
}
