import { type Answer, headerOf, objectIn } from './answer.ts';
import { fieldsOf, wordsOf } from './error-words.ts';
import type { Redirected, Refused, Unusable } from './failure.ts';
import { asObject, firstName } from './json.ts';
import { parseRetryAfter } from './retry-after.ts';
import type { ServiceText } from './service-text.ts';

const idNames = ['request_id', 'requestId', 'request-id', 'correlation_id', 'correlationId', 'trace_id', 'traceId'];

const idHeaders = [
  'x-request-id',
  'request-id',
  'x-correlation-id',
  'x-amzn-requestid',
  'x-amz-request-id',
  'x-ms-request-id',
  'x-trace-id',
  'cf-ray',
];

const longestId = 128;

/** By what the service, or what stands in front of it, finds the request in its log. */
export function requestIdOf(answer: Answer, texts: ServiceText): string | undefined {
  const body = objectIn(answer);
  const id =
    firstName(body, idNames) ??
    firstName(asObject(body['error']), idNames) ??
    idHeaders.map((name) => headerOf(answer, name)).find((value) => value !== undefined);
  return id === undefined ? undefined : texts.line(id, longestId);
}

/** RFC 6750 section 3.1. */
function missingScopeOf(answer: Answer, texts: ServiceText): string | undefined {
  const challenge = headerOf(answer, 'www-authenticate') ?? '';
  if (answer.status !== 403 || !/\berror="?insufficient_scope\b/i.test(challenge)) return undefined;
  const [, scope] = /\bscope="([^"]+)"/i.exec(challenge) ?? [];
  return scope === undefined ? undefined : texts.line(scope, longestId);
}

export function retryAfterOf(answer: Answer, serverNow: number): number | undefined {
  return parseRetryAfter(headerOf(answer, 'retry-after'), serverNow);
}

/** Where to, without what an address may have of secrets. */
function redirectTarget(location: string | undefined, baseUrl: URL, texts: ServiceText): string | undefined {
  if (location === undefined || !URL.canParse(location, baseUrl.href)) return undefined;
  const { protocol, host, pathname } = new URL(location, baseUrl);
  return texts.line(`${protocol}//${host}${pathname}`, 300);
}

export interface RefusalContext {
  readonly baseUrl: URL;
  readonly serverNow: number;
  readonly texts: ServiceText;
}

/** What an answer means that is none of success. */
export function refusalOf(answer: Answer, { baseUrl, serverNow, texts }: RefusalContext): Refused | Redirected {
  const { status, body } = answer;
  const requestId = requestIdOf(answer, texts);
  if (status >= 300 && status < 400) {
    return {
      kind: 'redirected',
      status,
      requestId,
      target: redirectTarget(headerOf(answer, 'location'), baseUrl, texts),
    };
  }
  const json = body.kind === 'json' ? body.value : null;
  const excerpt = body.kind === 'other' || body.kind === 'too-large' ? body.excerpt : '';
  return {
    kind: 'refused',
    status,
    requestId,
    words: body.kind === 'json' ? wordsOf(json, texts) : excerpt === '' ? undefined : excerpt,
    fields: fieldsOf(json, texts),
    missingScope: missingScopeOf(answer, texts),
    retryAfterMs: retryAfterOf(answer, serverNow),
  };
}

/** Why an answer of success is of no use where JSON was needed; undefined when it is JSON. */
export function unusable(answer: Answer, texts: ServiceText): Unusable | undefined {
  const { status, body } = answer;
  const common = { status, requestId: requestIdOf(answer, texts) };
  switch (body.kind) {
    case 'json':
      return undefined;
    case 'empty':
      return { ...common, kind: 'not-json', why: 'it is empty', excerpt: '' };
    case 'other':
      return { ...common, kind: 'not-json', why: body.why, excerpt: body.excerpt };
    case 'too-large':
      return { ...common, kind: 'too-large', why: 'it is longer than 10 MiB', excerpt: body.excerpt };
  }
}

/** The same where a body does not matter: nothing, and a word in plain text, are fine; a page for people is not. */
export function unusableThoughOptional(answer: Answer, texts: ServiceText): Unusable | undefined {
  const { body } = answer;
  if (body.kind === 'empty' || (body.kind === 'other' && !body.isHtml)) return undefined;
  return unusable(answer, texts);
}
