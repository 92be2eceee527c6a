/** Formats times on pages. Does not use the DOM: the service formats them first, and the page keeps them up to date. */

/** Name and length in seconds of each unit, and the duration from which it is used. @type {readonly (readonly [string, number, number])[]} */
const units = [
  ['d', 86_400, 172_800],
  ['h', 3_600, 7_200],
  ['min', 60, 90],
];

/** Formats a duration in a single unit. @param {number} milliseconds */
function span(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1_000));
  const [unit, length] = units.find(([, , from]) => seconds >= from) ?? ['s', 1];
  return `${Math.round(seconds / length)} ${unit}`;
}

/** @param {number} at @param {number} now */
export function relativeTime(at, now) {
  if (Math.abs(at - now) < 2_000) return 'now';
  return at > now ? `in ${span(at - now)}` : `${span(now - at)} ago`;
}

/** Time in UTC, to the second: `2026-03-01 14:05:09 UTC`. @param {string} timestamp */
export const fullTime = (timestamp) => `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;

/** Swedish dates are those of ISO 8601. */
const zoned = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'long' });

/** Time in the time zone of the browser: `2026-03-01 15:05:09 CET`. @param {string} timestamp */
export const zonedTime = (timestamp) => zoned.format(Date.parse(timestamp));
