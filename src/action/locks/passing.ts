import type { ServiceError } from '../../client/client.ts';

/** Trouble that may be over at the next attempt. */
export function isPassing({ failure, status }: ServiceError): boolean {
  if (failure.kind === 'aborted') return false;
  if (status !== undefined) return status === 408 || status === 425 || status === 429 || status >= 500;
  return (
    failure.kind === 'deadline' || failure.kind === 'timeout' || (failure.kind === 'connection' && !failure.untrusted)
  );
}

/** What the service has asked to wait for. */
export function askedToWaitMs({ failure }: ServiceError): number | undefined {
  return failure.kind === 'deadline' || failure.kind === 'refused' ? failure.retryAfterMs : undefined;
}
