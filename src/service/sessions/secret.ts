import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** 256 random bits, as a token has: there is nothing to guess, and so no salt and no slow hash. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

export const secretHash = (secret: string): string => createHash('sha256').update(secret).digest('hex');

/** What the forms of a session carry: only its own pages know it, and it does not tell the secret of the cookie. */
export const formToken = (sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update('form').digest('base64url');

function isSame(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export const isFormToken = (given: string, sessionSecret: string): boolean => isSame(given, formToken(sessionSecret));

const seal = (text: string, sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update(`sealed ${text}`).digest('base64url');

/** What a page gives a form to bring back: whoever sends it cannot have made it up. */
export const sealed = (text: string, sessionSecret: string): string => `${seal(text, sessionSecret)}.${text}`;

/** Undefined when no page of this session has given it. */
export function unsealed(given: string, sessionSecret: string): string | undefined {
  const [mac = '', ...rest] = given.split('.');
  const text = rest.join('.');
  return isSame(mac, seal(text, sessionSecret)) ? text : undefined;
}
