import { createHmac } from 'node:crypto';
import { sameHash } from '../tokens/secret.ts';

/** A value that a form sends back, with a MAC that proves that a page of the session contained it. */
export const sealed = (text: string, sessionSecret: string): string => `${seal(text, sessionSecret)}.${text}`;

/** Undefined if no page of this session sealed the text. */
export function unsealed(sealedText: string, sessionSecret: string): string | undefined {
  const [mac = '', ...rest] = sealedText.split('.');
  const text = rest.join('.');
  return sameHash(mac, seal(text, sessionSecret)) ? text : undefined;
}

const seal = (text: string, sessionSecret: string): string =>
  createHmac('sha256', sessionSecret).update(`sealed ${text}`).digest('base64url');
