import { type Answer, objectIn } from './answer.ts';
import { rawWordsOf } from './error-words.ts';
import { nameIn } from './json.ts';

/** What is said where an address is not known, which says nothing about a lock. */
const ofNoRoute = [
  /^(4\d\d )?(not found|bad request|method not allowed|(request-)?uri too (long|large))\.?$/i,
  /^(the )?(requested )?(page|resource|route|url|uri|endpoint)\b.*\b(not found|not exist|doesn't exist|not available)\b/i,
  /^no (matching )?route\b/i,
  /^cannot [a-z]+ \//i,
];

/**
 * Whether the API itself has answered with an error, and not something on the way to it: an API says in JSON what is
 * wrong. A request id in a header is no sign of it, because proxies give one too.
 */
export function isOwnError(answer: Answer): boolean {
  const body = objectIn(answer);
  if (nameIn(body['request_id']) !== undefined) return true;
  const said = rawWordsOf(body)?.split(': ') ?? [];
  return said.some((words) => !ofNoRoute.some((pattern) => pattern.test(words.trim())));
}
