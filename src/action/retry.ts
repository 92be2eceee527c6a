import type { ServiceError } from '../client/client.ts';

/** How long the service has asked to wait. */
export function retryAfterOf({ failure }: ServiceError): number | undefined {
  return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}

const minLastAttemptMs = 300;
const maxLastAttemptMs = 5_000;

/**
 * How long before the end of a wait the last attempt begins, so that it is over by then: twice as long as the attempt
 * before it took, because the last one may be slower.
 */
export const lastAttemptMs = (previousTookMs: number): number =>
  Math.min(maxLastAttemptMs, Math.max(minLastAttemptMs, 2 * previousTookMs));
