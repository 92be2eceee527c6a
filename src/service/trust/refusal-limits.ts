import { limitRate, perMinute } from '../runtime/limit-rate.ts';

/**
 * Limit on refused identity tokens with a valid signature, by IP address, issuer and subject. A job in a loop uses up
 * the limit of its own subject, and does not affect other jobs behind the address. Without the address in the key,
 * anyone who ever received a JWT of a subject could lock that subject out.
 */
const refusalsOfSubject = perMinute(60);

/** Limit for all of an IP address: verification takes time, and attackers can claim any issuer and subject. */
const refusalsOfAddress = perMinute(600);

export interface Limited {
  readonly kind: 'limited';
  readonly retryAfterSeconds: number;
}

/** Limits failed exchanges, because anyone can request one. */
export function createRefusalLimits(clock: () => number) {
  const ofSubject = limitRate(refusalsOfSubject, clock);
  const ofAddress = limitRate(refusalsOfAddress, clock);

  /** The subject that the JWT claims. The subject in the result is undefined if the signature was not verified. */
  return async <Result extends { readonly kind: string; readonly subject?: string | undefined }>(
    address: string,
    claimed: string | undefined,
    exchange: () => Promise<Result>,
  ): Promise<Result | (Limited & { readonly subject?: undefined })> => {
    const keyOf = (subject: string) => JSON.stringify([address, subject]);
    const seconds = claimed === undefined ? 0 : ofSubject.remaining(keyOf(claimed)).seconds;
    if (seconds > 0) return { kind: 'limited', retryAfterSeconds: seconds };
    const admission = ofAddress.admit(address);
    if (admission.kind === 'refused') return { kind: 'limited', retryAfterSeconds: admission.retryAfterSeconds };
    const result = await exchange();
    const { kind, subject } = result;
    if (kind === 'exchanged' || kind === 'limited') admission.refund();
    // Counted only now, with a verified subject: anyone can claim one.
    else if (subject !== undefined) ofSubject.admit(keyOf(subject));
    return result;
  };
}
