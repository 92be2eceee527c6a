/** How much time a lock has left: goes on with what `../locks/countdown.ts` wrote, in the same words. */

const urgentMs = 5 * 60_000;

/** @param {number} value */
const twoDigits = (value) => String(value).padStart(2, '0');

/** @param {number} milliseconds */
export function timeLeft(milliseconds) {
  const seconds = Math.ceil(milliseconds / 1_000);
  if (seconds <= 0) return 'over';
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor(seconds / 3_600) % 24;
  const minutes = Math.floor(seconds / 60) % 60;
  if (days > 0) return `${days} d ${twoDigits(hours)} h`;
  if (hours > 0) return `${hours} h ${twoDigits(minutes)} min`;
  return minutes > 0 ? `${minutes} min ${twoDigits(seconds % 60)} s` : `${seconds} s`;
}

/** @param {ParentNode} root @param {number} now by the clock of the service */
export function updateCountdowns(root, now) {
  for (const element of root.querySelectorAll('[data-until]')) {
    const left = Date.parse(element.getAttribute('data-until') ?? '') - now;
    const text = timeLeft(left);
    if (element.textContent !== text) element.textContent = text;
    element.classList.toggle('urgent', left < urgentMs);
  }
}
