/** Keeps every `<time>` of the page true as time passes. `../elements/time.ts` wrote it first, in the same words. */

/** @type {readonly (readonly [string, number])[]} */
const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
];

/** The clock of this computer may be wrong: the page says what time it is. */
const ahead = Date.now() - Number(document.documentElement.dataset['now'] ?? Date.now());

/** By the clock of the service. */
export const serviceNow = () => Date.now() - ahead;

/** @param {number} milliseconds */
function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [unit, length] = units.find(([, each]) => seconds >= 2 * each) ?? ['s', 1];
  return `${Math.round(seconds / length)} ${unit}`;
}

/** @param {number} at @param {number} now */
export function relativeTime(at, now) {
  if (Math.abs(at - now) < 2_000) return 'now';
  return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}

export function updateTimes() {
  const now = serviceNow();
  for (const time of document.querySelectorAll('time[datetime]')) {
    const text = relativeTime(Date.parse(time.getAttribute('datetime') ?? ''), now);
    if (time.textContent !== text) time.textContent = text;
  }
}

/** @param {string} timestamp */
export const fullTime = (timestamp) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
