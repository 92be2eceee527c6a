import { problemTypePrefix } from '../interface/problem.ts';
import { asArray, asObject, firstName, type Json, type JsonObject, nameIn } from './json.ts';
import { namesHolder, outdatedIn } from './known-lock.ts';
import { type ClientResponse, headerOf, objectIn } from './response.ts';
import type { Sanitizer } from './sanitizer.ts';
import { asSentence, type Refused, type RefusedField, type Unusable } from './service-error.ts';

export function refusalOf(response: ClientResponse): Refused {
  const { status, body, sanitizer } = response;
  const json = body.kind === 'json' ? body.value : null;
  const excerpt = body.kind === 'other' ? body.excerpt : '';
  return {
    kind: 'refused',
    status,
    isRecognized: true,
    isOwnProblem: isOwnProblem(response),
    requestId: requestIdOf(response),
    message: body.kind === 'json' ? messageOf(json, sanitizer) : excerpt === '' ? undefined : excerpt,
    fields: fieldsOf(json, sanitizer),
    missingScope: missingScopeOf(response),
    retryAfterMs: retryAfterIn(response),
    outdated: outdatedIn(objectIn(response), sanitizer),
    redirect: redirectTarget(response),
  };
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

/** The reason why a success is not the requested resource; undefined if it is. */
export const expectResource =
  (resource: string, isIn: (body: JsonObject) => boolean) =>
  (response: ClientResponse): Unusable | undefined => {
    const wrong = unusable(response);
    if (wrong !== undefined || isIn(objectIn(response))) return wrong;
    return notUnderstood(response, `it contains no ${resource}`, membersOf(response));
  };

/** Like the given function, but also accepts a 204. */
export const orEmpty =
  (expect: (response: ClientResponse) => Unusable | undefined) =>
  (response: ClientResponse): Unusable | undefined =>
    response.status === 204 ? undefined : expect(response);

/** Omits the content, which could contain a secret in another form. */
export const expectFound =
  (find: (response: ClientResponse) => unknown, reason: string) =>
  (response: ClientResponse): Unusable | undefined =>
    find(response) === undefined ? notUnderstood(response, reason) : undefined;

export function membersOf(response: ClientResponse): string {
  const names = Object.keys(objectIn(response)).join(', ');
  return names && asSentence(response.sanitizer.line(`It is an object with: ${names}`, 200));
}

export const retryAfterIn = (response: ClientResponse): number | undefined =>
  parseRetryAfter(headerOf(response, 'retry-after'), response.receivedAt);

/** The milliseconds to wait (RFC 9110 section 10.2.3), from seconds or a date, compared with the sender's clock. */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Number(text) * 1_000, Number.MAX_SAFE_INTEGER);
  // Date.parse accepts many other texts. In all three date formats of HTTP, a date starts with the name of a day.
  const date = /^(mon|tue|wed|thu|fri|sat|sun)/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

export const notUnderstood = (response: ClientResponse, reason: string, content = ''): Unusable => ({
  kind: 'unusable',
  status: response.status,
  requestId: requestIdOf(response),
  reason: response.sanitizer.line(reason, 300),
  content,
});

/** Why a successful response cannot be used if JSON is required; undefined if it is JSON. */
export function unusable(response: ClientResponse): Unusable | undefined {
  const { body } = response;
  if (body.kind === 'json') return undefined;
  if (body.kind === 'empty') return notUnderstood(response, 'it is empty');
  const content = body.excerpt && `It starts with: ${asSentence(body.excerpt)}`;
  // Another attempt would get the same oversized response.
  return { ...notUnderstood(response, body.reason, content), isRecognized: body.tooLarge };
}

const maxDetailLength = 200;
const maxFields = 5;

/** One entry per invalid part of the request: its pointer, such as `#/hook/url`, and the detail, or only the detail. */
function fieldsOf(body: Json, sanitizer: Sanitizer): readonly RefusedField[] {
  const { errors } = asObject(body);
  const found = asArray(errors).flatMap((error) => {
    const detail = nameIn(error) ?? firstName(asObject(error), 'detail', 'message');
    const pointer = firstName(asObject(error), 'pointer', 'field')?.replace(/^#?\//, '');
    const field = pointer === undefined || pointer === '' ? undefined : sanitizer.line(pointer, maxDetailLength);
    return detail === undefined ? [] : { field, detail: sanitizer.line(detail, maxDetailLength) };
  });
  return found.slice(0, maxFields);
}

const maxWordsLength = 500;

function messageOf(body: Json, sanitizer: Sanitizer): string | undefined {
  const message = rawMessageOf(body);
  return message === undefined ? undefined : nameIn(sanitizer.line(message, maxWordsLength));
}

/** The message of an error body, in the unchanged words of its sender. */
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

/** Omits user name, password and query, which may be secret. */
function redirectTarget(response: ClientResponse): string | undefined {
  const { baseUrl } = response;
  const location = headerOf(response, 'location');
  if (location === undefined || !URL.canParse(location, baseUrl.href)) return undefined;
  const { protocol, host, pathname } = new URL(location, baseUrl);
  return response.sanitizer.line(`${protocol}//${host}${pathname}`, 300);
}
