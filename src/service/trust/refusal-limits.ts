import { limitAttempts, perMinute } from '../http/attempts.ts';
import type { Claimed } from './verify-identity.ts';

/**
 * Refused identities that an issuer has signed, by address, issuer and subject. A job in a loop uses up what its own subject
 * has there, and does not affect other jobs behind its address. Without the address, everyone who was ever shown a JWT of a
 * subject could lock that subject out.
 */
const refusalsOfSubject = perMinute(60);

/** Identities whose signature proves nothing, by address and by the issuer that they claim to be from. */
const forgeriesOfAddress = perMinute(60);

/** All of an address: judging an identity takes time, and strangers can choose the issuer and the subject that they claim. */
const refusalsOfAddress = perMinute(600);

export interface Attributed<Result> {
  readonly result: Result;
  /** It came to nothing because of the identity, or because of its issuer. */
  readonly isRefused: boolean;
  /** Subject of the JWT; undefined if its signature was not verified. */
  readonly subject: string | undefined;
}

export interface Limited {
  readonly kind: 'limited';
  readonly retryAfterSeconds: number;
}

/** Limits the exchanges that come to nothing: anyone can ask for one. */
export function createRefusalLimits(clock: () => number) {
  const ofSubject = limitAttempts(refusalsOfSubject, clock);
  const ofForger = limitAttempts(forgeriesOfAddress, clock);
  const ofAddress = limitAttempts(refusalsOfAddress, clock);

  return async <Result>(
    address: string,
    claimed: Claimed | undefined,
    exchange: () => Promise<Attributed<Result>>,
  ): Promise<Result | Limited> => {
    const forger = JSON.stringify([address, claimed?.issuer]);
    const keyOf = (subject: string) => JSON.stringify([address, subject]);
    const retryAfterSeconds = Math.max(
      ofAddress.secondsUntilAllowed(address),
      ofForger.secondsUntilAllowed(forger),
      claimed === undefined ? 0 : ofSubject.secondsUntilAllowed(keyOf(claimed.subject)),
    );
    if (retryAfterSeconds > 0) return { kind: 'limited', retryAfterSeconds };
    const [fromAddress, fromForger] = [ofAddress(address), ofForger(forger)];
    const { result, isRefused, subject } = await exchange();
    if (!isRefused && fromAddress.kind === 'allowed') fromAddress.succeeded();
    if ((!isRefused || subject !== undefined) && fromForger.kind === 'allowed') fromForger.succeeded();
    // Only now: anyone can claim a subject.
    if (isRefused && subject !== undefined) ofSubject(keyOf(subject));
    return result;
  };
}
