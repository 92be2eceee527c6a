import { hash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';

const prefix = 'wsa_';

export const newTokenSecret = (): string => prefix + randomSecret();

export const looksLikeTokenSecret = (text: string): boolean => /^wsa_[A-Za-z0-9_-]{43}$/.test(text);

export const secretHash = (secret: string): string => hash('sha256', secret);

export function sameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

export const newTokenId = (): string => `tok_${randomUUID()}`;

export const looksLikeTokenId = (text: string): boolean => /^tok_[0-9a-f-]{36}$/.test(text);

/** The secret cannot be guessed, because it has 256 random bits. Its hash needs no salt and no slow algorithm. */
export const randomSecret = (): string => randomBytes(32).toString('base64url');
