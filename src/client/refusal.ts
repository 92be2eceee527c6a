import { problemTypePrefix } from '../interface/problem.ts';
import { asArray, asObject, firstName, type Json, type JsonObject, nameIn } from './json.ts';
import { namesHolder, outdatedIn } from './known-lock.ts';
import { type ClientResponse, headerOf, objectIn } from './response.ts';
import { asSentence, type Failure, isTransientStatus } from './service-error.ts';

/** The failure for a response that is not a success. `isRecognized`: false if it may be from a gateway. */
export function refusalOf(response: ClientResponse, isRecognized = true): Failure {
  const { status } = response;
  const message = messageIn(response);
  const missingScope = missingScopeOf(response);
  return {
    kind: 'refused',
    reason: isRedirect(status) ? redirectText(response) : refusalText(response, message),
    advice: missingScope
      ? ` Use a token or a trust rule that has the scope ${missingScope}.`
      : adviceOn(response, message, isRecognized),
    isTransient: !isRecognized || isTransientStatus(status),
    status,
    requestId: requestIdOf(response),
    isOwnProblem: isOwnProblem(response),
    missingScope,
    retryAfterMs: retryAfterIn(response),
    outdated: outdatedIn(objectIn(response), response.sanitizer),
  };
}

const isRedirect = (status: number): boolean => status >= 300 && status < 400;

function adviceOn(response: ClientResponse, message: string | undefined, isRecognized: boolean): string {
  const { status } = response;
  if (isRedirect(status)) return ' Set the base URL to the actual URL of the service.';
  if (status === 401) return ' The token may have expired or been revoked: create a new one, and update the secret.';
  if (!isRecognized) {
    return ' Check the base URL, and any gateway in front of the service: it may have answered in its place.';
  }
  if (status === 404 && (!isOwnProblem(response) || message === undefined)) {
    return ' Check the base URL, whose path may be wrong, and the id of the workspace.';
  }
  if (message !== undefined) return '';
  if (status === 403) return ' Check the scopes of the token.';
  return status < 500 ? '' : ' The log of the service has the cause.';
}

/** JSON, a request id or problem details of another type prove nothing, because gateways send them, too. */
export const isOwnProblem = (response: ClientResponse, name = ''): boolean =>
  nameIn(objectIn(response)['type'])?.startsWith(problemTypePrefix + name) === true;

/**
 * Whether a 409 means that an earlier request with the same Idempotency-Key is still running. A response that names
 * neither that nor a lock is read this way only if the key may have arrived before.
 */
export function isStillRunning(response: ClientResponse, keyMayHaveArrived: boolean): boolean {
  if (response.status !== 409) return false;
  const body = objectIn(response);
  const type = nameIn(body['type']) ?? '';
  if (isOwnProblem(response)) return isOwnProblem(response, 'request-in-progress');
  if (namesHolder(response)) return false;
  const message = `${type} ${rawMessageOf(body) ?? ''}`;
  if (/idempoten/i.test(message) && /progress|running|outstanding|process|concurrent/i.test(message)) return true;
  return keyMayHaveArrived && headerOf(response, 'retry-after') !== undefined;
}

/** Why a success is not the requested resource; undefined if it is. `isSecret`: omits its content. */
export const expectResource =
  (resource: string, isIn: (body: JsonObject) => boolean, isSecret = false) =>
  (response: ClientResponse): Failure | undefined => {
    const wrong = unusable(response, isSecret);
    if (wrong !== undefined || isIn(objectIn(response))) return wrong;
    return notUnderstood(response, `it contains no ${resource}`, isSecret ? '' : membersOf(response));
  };

/** Like the given function, but also accepts a 204. */
export const orEmpty =
  (expect: (response: ClientResponse) => Failure | undefined) =>
  (response: ClientResponse): Failure | undefined =>
    response.status === 204 ? undefined : expect(response);

/** Omits the content, which could contain a secret in another form. */
export const expectFound =
  (find: (response: ClientResponse) => unknown, reason: string) =>
  (response: ClientResponse): Failure | undefined =>
    find(response) === undefined ? notUnderstood(response, reason) : undefined;

export function membersOf(response: ClientResponse): string {
  const names = Object.keys(objectIn(response)).join(', ');
  return names && asSentence(response.sanitizer.line(`It is an object with: ${names}`, 200));
}

export const retryAfterIn = (response: ClientResponse): number | undefined =>
  parseRetryAfter(headerOf(response, 'retry-after'), response.receivedAt);

/** The milliseconds to wait (RFC 9110 section 10.2.3). `now` is the time by the clock of the sender. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
  // Date.parse accepts many other texts. In all three date formats of HTTP, a date starts with the name of a day.
  const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** `content` is a sentence about the body, such as "It is an object with: items."; empty if nothing of it is shown. */
export const notUnderstood = (response: ClientResponse, reason: string, content = ''): Failure => ({
  kind: 'unusable',
  reason:
    asSentence(`The response cannot be used: ${response.sanitizer.line(reason, 300)}`) + (content && ` ${content}`),
  advice: ' Check that this URL belongs to the service, and that no gateway in front of it answered instead.',
  isTransient: true,
  status: response.status,
  requestId: requestIdOf(response),
});

/** Why a successful response cannot be used if JSON is required; undefined if it is JSON. */
export function unusable(response: ClientResponse, isSecret = false): Failure | undefined {
  const { body } = response;
  if (body.kind === 'json') return undefined;
  if (body.kind === 'empty') return notUnderstood(response, 'it is empty');
  const content = !isSecret && body.excerpt ? `It starts with: ${asSentence(body.excerpt)}` : '';
  // Another attempt would get the same oversized response.
  return { ...notUnderstood(response, body.reason, content), isTransient: !body.tooLarge };
}

const maxDetailLength = 200;
const maxFields = 5;

/** The message of the service, and each invalid part of the request, such as "hook/url: It must be a URL.". */
function refusalText({ status, server, body, sanitizer }: ClientResponse, sent: string | undefined): string {
  const message = sent ?? (status < 500 ? `${server} refused the request` : `${server} failed`);
  const { errors } = asObject(body.kind === 'json' ? body.value : null);
  const details = asArray(errors).flatMap((error) => {
    const detail = nameIn(error) ?? firstName(asObject(error), 'detail', 'message');
    const pointer = firstName(asObject(error), 'pointer', 'field')?.replace(/^#?\//, '');
    const field = pointer ? `${sanitizer.line(pointer, maxDetailLength)}: ` : '';
    return detail === undefined ? [] : { field, detail: sanitizer.line(detail, maxDetailLength) };
  });
  const added = details
    .slice(0, maxFields)
    .filter(({ detail }) => !message.includes(detail))
    .map(({ field, detail }) => ` ${field}${asSentence(detail)}`);
  return asSentence(message) + added.join('');
}

const maxWordsLength = 500;

/** On one line; undefined if the service sent none. */
function messageIn({ body, sanitizer }: ClientResponse): string | undefined {
  if (body.kind !== 'json') return body.kind === 'empty' ? undefined : nameIn(body.excerpt);
  const message = rawMessageOf(body.value);
  return message === undefined ? undefined : nameIn(sanitizer.line(message, maxWordsLength));
}

/** The message of an error body, verbatim. */
export function rawMessageOf(body: Json): string | undefined {
  if (typeof body === 'string') return nameIn(body);
  const { detail, title, error, message, error_description } = asObject(body);
  // `error` is often only a code or the name of the status, and another field has the sentence.
  const parts = [error, message, error_description].map(nameIn).filter((part) => part !== undefined);
  return (
    nameIn(detail) ?? nameIn(title) ?? nameIn(asObject(error)['message']) ?? nameIn([...new Set(parts)].join(': '))
  );
}

const maxIdLength = 128;

/** The id of the request in the log of the service or of its proxy. */
function requestIdOf(response: ClientResponse): string | undefined {
  const id = nameIn(objectIn(response)['request_id']) ?? headerOf(response, 'x-request-id');
  return id === undefined ? undefined : response.sanitizer.line(id, maxIdLength);
}

/** RFC 6750 section 3.1. */
function missingScopeOf(response: ClientResponse): string | undefined {
  const challenge = headerOf(response, 'www-authenticate') ?? '';
  if (response.status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge)) return undefined;
  const [, scope] = /\bscope="([^"]+)"/i.exec(challenge) ?? [];
  return scope === undefined ? undefined : response.sanitizer.line(scope, maxIdLength);
}

/** Omits user name, password and query of the target, which may be secret. */
function redirectText(response: ClientResponse): string {
  const { baseUrl, server, sanitizer } = response;
  const location = headerOf(response, 'location');
  const url = location === undefined ? null : URL.parse(location, baseUrl.href);
  const to = url === null ? '' : ` to ${sanitizer.line(`${url.protocol}//${url.host}${url.pathname}`, 300)}`;
  return `${server} redirects${to}. Redirects are not followed, because they would expose the token.`;
}
