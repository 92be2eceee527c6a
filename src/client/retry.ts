import { isTransientStatus } from './classify.ts';
import type { ServiceError } from './service-error.ts';

const firstBackoffMs = 500;
const maxBackoffMs = 10_000;

/** Clients that are refused together get the same retry time, and must not all return at once. */
const jitterMs = 250;

/** The pause after a number of failed attempts, unless the server sent one. */
export function backoff(
  failed: number,
  retryAfterMs: number | undefined,
  random: () => number,
  maxMs = maxBackoffMs,
): number {
  const ms = Math.min(maxMs, firstBackoffMs * 2 ** (failed - 1));
  if (retryAfterMs === undefined) return withJitter(ms, random);
  return Math.max(retryAfterMs + random() * jitterMs, ms / 2);
}

/** Between half of the time and all of it, so that clients that failed together do not return together. */
export const withJitter = (ms: number, random: () => number): number => ms * (0.5 + random() / 2);

export function isTransient({ failure }: ServiceError): boolean {
  switch (failure.kind) {
    case 'refused':
    case 'redirected':
      return !failure.isRecognized || isTransientStatus(failure.status);
    case 'not-json':
    case 'not-understood':
    case 'timeout':
    case 'deadline':
      return true;
    case 'connection':
      return !failure.untrusted;
    case 'no-token':
      return failure.transient;
    case 'too-large':
    case 'aborted':
    case 'unsendable':
      return false;
  }
}

export function retryAfterOfError({ failure }: ServiceError): number | undefined {
  return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}

const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;

/**
 * The time reserved for the last attempt before a deadline: twice as long as the previous attempt took, because the
 * last one may be slower.
 */
export const lastAttemptMs = (previousElapsedMs: number): number =>
  Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousElapsedMs));
