import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, as a token has: there is nothing to guess, and so no salt and no slow hash. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** What the forms of a session carry: only its own pages know it, and it does not tell the secret of the cookie. */
export const formToken = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('form').digest('base64url');

export function isFormToken(given: string, sessionSecret: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(formToken(sessionSecret))];
  return one.length === other.length && timingSafeEqual(one, other);
}
