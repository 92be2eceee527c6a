import type { Received } from '../../client/answer.ts';
import { dateOf } from '../../client/clock.ts';

/** What to wait where GitHub does not say it. */
const aMinute = '60';

/** In seconds, as Retry-After has it; undefined where the answer is about something else. */
function waitAskedFor({ status, headers, bytes }: Received): string | undefined {
  if (status !== 403 && status !== 429) return undefined;
  if (headers['retry-after'] !== undefined) return headers['retry-after'];
  const reset = Number(headers['x-ratelimit-reset']);
  if (headers['x-ratelimit-remaining'] === '0' && reset > 0) {
    const now = dateOf(headers) ?? Date.now();
    return String(Math.max(0, Math.ceil(reset - now / 1_000)));
  }
  return /secondary rate limit/i.test(new TextDecoder().decode(bytes)) ? aMinute : undefined;
}

/**
 * GitHub says 403 where others say 429 (RFC 6585, section 4), and when to come back in headers of its own:
 * docs.github.com, "Rate limits for the REST API". What is sent again, and when, is then the same for all servers.
 */
export function asTooMany(received: Received): Received {
  const wait = waitAskedFor(received);
  if (wait === undefined) return received;
  return { ...received, status: 429, headers: { ...received.headers, 'retry-after': wait } };
}
