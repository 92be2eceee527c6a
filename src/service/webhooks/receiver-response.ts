import type { IncomingHttpHeaders } from 'node:http';
import { redact, redactCut, spellingsOf } from '../../interface/redact.ts';

/** Stored part of the response to the last attempt at a delivery. */
export type ReceiverResponse =
  | {
      readonly kept: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** How it begins, as text that can be shown. */
      readonly body: string;
      /** The response was longer. */
      readonly bodyIsCut: boolean;
    }
  /**
   * The receiver is inside a network that the operator allows: people who can register hooks must not read its responses.
   */
  | { readonly kept: 'status'; readonly status: number };

/** The response as received. */
export interface ReadResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Not all of the body was read, or it broke off. */
  readonly isCut: boolean;
}

export const responseStatus = ({ status }: ReadResponse): ReceiverResponse => ({ kept: 'status', status });

/** Shorter values are part of ordinary words, and hide nothing. */
const minSecret = 4;

const maxHeaderLength = 256;

/** Headers that help to find a cause, and are not credentials as cookies are. */
const keptHeaders = [
  'content-type',
  'content-encoding',
  'content-length',
  'location',
  'retry-after',
  'server',
  'x-request-id',
] as const;

/** The secrets are those of the request: a receiver may repeat what it was sent. */
export function completeResponse(
  { status, headers, body, isCut }: ReadResponse,
  secrets: readonly string[],
): ReceiverResponse {
  const spellings = spellingsOf(secrets, minSecret);
  const kept = keptHeaders.flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    const told = name === 'location' ? String(value).replace(/[?#].*$/s, '?…') : String(value);
    return [[name, asText(redact(told, spellings)).slice(0, maxHeaderLength).toWellFormed()]];
  });
  const read = new TextDecoder().decode(body);
  const text = asText(isCut ? redactCut(read, spellings) : redact(read, spellings));
  const shown = firstBytes(text);
  return {
    kept: 'whole',
    status,
    headers: Object.fromEntries(kept),
    body: shown,
    bodyIsCut: isCut || shown.length < text.length,
  };
}

/** Only settleDelivery() writes the column. */
export const storedResponse = (text: string | null): ReceiverResponse | null =>
  JSON.parse(text ?? 'null') as ReceiverResponse | null;

/** Characters that are not text: controls but for lines and tabs, invisible formatting, separators of lines. */
const notText = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const asText = (text: string): string => text.toWellFormed().replaceAll(/\r\n?/g, '\n').replaceAll(notText, '\ufffd');

const maxBytes = 1_024;

/** Drops a character that was cut in the middle. */
const firstBytes = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
