import { STATUS_CODES } from 'node:http';
import { formatDuration } from '../interface/duration.ts';
import type { Failure, OutOfTime, Redirected, Refused, RefusedField } from './failure.ts';

export interface FailedCall {
  readonly method: string;
  /** As in the URL, without origin and query. */
  readonly path: string;
  /** How often it was sent. */
  readonly attempts: number;
}

const statusText = (status: number): string => `${status} ${STATUS_CODES[status] ?? ''}`.trim();

function timeText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  const seconds = Math.ceil(ms / 1_000);
  return formatDuration({ seconds: seconds < 120 ? seconds : Math.ceil(seconds / 60) * 60 });
}

const endsSentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

const inParentheses = (requestId: string | undefined): string =>
  requestId === undefined ? '' : ` (request id ${requestId})`;

const mostFieldsShown = 5;

function fieldsText(fields: readonly RefusedField[], words: string): string {
  const untold = fields.filter(({ detail }) => !words.includes(detail));
  const shown = untold
    .slice(0, mostFieldsShown)
    .map(({ field, detail }) => ` ${field === undefined ? '' : `${field}: `}${endsSentence(detail)}`);
  const more = untold.length - shown.length;
  return shown.join('') + (more > 0 ? ` And ${more} more.` : '');
}

function adviceOn({ status, missingScope }: Refused): string {
  if (missingScope !== undefined) return ` Use a token that has the scope ${missingScope}.`;
  if (status === 401) return ' Use a token that is valid: this one may have expired or been revoked.';
  return '';
}

function refusedText(refused: Refused): string {
  const words = refused.words ?? '';
  const said = words === '' ? '' : `: ${words}`;
  const fields = fieldsText(refused.fields, words);
  return (
    endsSentence(`was refused with ${statusText(refused.status)}${inParentheses(refused.requestId)}${said}`) +
    fields +
    adviceOn(refused)
  );
}

function redirectedText({ status, target, requestId }: Redirected): string {
  const to = target === undefined ? '' : ` to ${target}`;
  return `was redirected with ${statusText(status)}${to}${inParentheses(requestId)}. Redirects are not followed, because the token would travel with them: give the address where the service really is.`;
}

function outOfTimeText({ last, retryAfterMs, limited }: OutOfTime): string {
  if (last === undefined && limited) {
    return 'was not sent: the service limits how many requests it takes, and others came first in the time there was.';
  }
  if (last === undefined) return 'got no answer in the time there was for it.';
  const before = failureText(last);
  if (retryAfterMs === undefined) return `${before} There was no time left to try again.`;
  return `${before} The service asks to wait for ${timeText(retryAfterMs)}, and there is less time left.`;
}

function failureText(failure: Failure): string {
  switch (failure.kind) {
    case 'refused':
      return refusedText(failure);
    case 'redirected':
      return redirectedText(failure);
    case 'not-json':
    case 'not-understood':
    case 'too-large': {
      const { status, requestId, why, excerpt } = failure;
      const begins = excerpt === '' ? '' : ` It begins with: ${excerpt}`;
      return endsSentence(
        `was answered with ${statusText(status)}${inParentheses(requestId)}, but the answer cannot be used: ${endsSentence(why)}${begins}`,
      );
    }
    case 'timeout':
      return `got no whole answer within ${timeText(failure.limitMs)}.`;
    case 'connection':
      return failure.untrusted
        ? `${endsSentence(`was not sent, because the server cannot be trusted: ${failure.words}`)} If its certificate is of an authority of your own, name that one in NODE_EXTRA_CA_CERTS.`
        : endsSentence(`lost its connection: ${failure.words}`);
    case 'deadline':
      return outOfTimeText(failure);
    case 'aborted':
      return 'was stopped.';
    case 'unsendable':
      return endsSentence(`was not sent: ${failure.why}`);
  }
}

/** What happened to what, why, in whose words, and what to do, in one line. */
export function sentenceOf({ method, path, attempts }: FailedCall, failure: Failure): string {
  const tried = attempts > 1 ? ` It was tried ${attempts} times.` : '';
  return `${method} ${path} ${failureText(failure)}${tried}`;
}
