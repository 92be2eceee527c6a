import { limitRate, perMinute } from '../runtime/limit-rate.ts';
import type { Unverified } from './verify-identity.ts';

/**
 * Limit on refused identity tokens with a valid signature, by IP address, issuer and subject. A job in a loop uses up
 * the limit of its own subject, and does not affect other jobs behind the address. Without the address in the key,
 * anyone who ever received a JWT of a subject could lock that subject out.
 */
const refusalsOfSubject = perMinute(60);

/** Limit on identity tokens without a valid signature, by IP address and claimed issuer. */
const forgeriesOfAddress = perMinute(60);

/** Limit for all of an IP address: verification takes time, and attackers can claim any issuer and subject. */
const refusalsOfAddress = perMinute(600);

export interface Limited {
  readonly kind: 'limited';
  readonly retryAfterSeconds: number;
}

/** Limits failed exchanges, because anyone can request one. */
export function createRefusalLimits(clock: () => number) {
  const ofSubject = limitRate(refusalsOfSubject, clock);
  const ofForger = limitRate(forgeriesOfAddress, clock);
  const ofAddress = limitRate(refusalsOfAddress, clock);

  /** `subject` is that of the JWT; undefined if its signature was not verified. */
  return async <Result extends { readonly kind: string; readonly subject?: string | undefined }>(
    address: string,
    claimed: Unverified | undefined,
    exchange: () => Promise<Result>,
  ): Promise<Result | Limited> => {
    const forger = JSON.stringify([address, claimed?.issuerHash]);
    const keyOf = (subject: string) => JSON.stringify([address, subject]);
    const retryAfterSeconds = Math.max(
      ofAddress.remaining(address).seconds,
      ofForger.remaining(forger).seconds,
      claimed === undefined ? 0 : ofSubject.remaining(keyOf(claimed.subject)).seconds,
    );
    if (retryAfterSeconds > 0) return { kind: 'limited', retryAfterSeconds };
    const [fromAddress, fromForger] = [ofAddress.admit(address), ofForger.admit(forger)];
    const result = await exchange();
    const { subject } = result;
    // Because of the identity token or its issuer.
    const isRefused = result.kind !== 'exchanged' && result.kind !== 'limited';
    if (!isRefused && fromAddress.kind === 'admitted') fromAddress.refund();
    if ((!isRefused || subject !== undefined) && fromForger.kind === 'admitted') fromForger.refund();
    // Counted only now, with a verified subject: anyone can claim one.
    if (isRefused && subject !== undefined) ofSubject.admit(keyOf(subject));
    return result;
  };
}
