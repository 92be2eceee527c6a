import type { IncomingHttpHeaders } from 'node:http';
import { redact, redactTruncated, spellingsOf } from '../../interface/redact.ts';

/** Stored part of the response to the last attempt at a delivery. */
export type ReceiverResponse =
  | {
      readonly kept: 'whole';
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Start of the body, as text that is safe to display. */
      readonly body: string;
      readonly bodyIsCut: boolean;
    }
  /**
   * The receiver is in a network that the operator allows: users who can register hooks must not read its responses.
   */
  | { readonly kept: 'status'; readonly status: number };

export interface ReadResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The body was not read completely, or the connection was closed early. */
  readonly isCut: boolean;
}

export const responseStatus = ({ status }: ReadResponse): ReceiverResponse => ({ kept: 'status', status });

/** Shorter values are not redacted: they also occur in ordinary words. */
const minSecret = 4;

/** Headers that help to find the cause of an error and, unlike cookies, are not credentials. */
const keptHeaders = [
  'content-type',
  'content-encoding',
  'content-length',
  'location',
  'retry-after',
  'server',
  'x-request-id',
] as const;

/** Redacts the secrets of the request, because a receiver may repeat them. */
export function completeResponse(
  { status, headers, body, isCut }: ReadResponse,
  secrets: readonly string[],
): ReceiverResponse {
  const spellings = spellingsOf(secrets, minSecret);
  const kept = keptHeaders.flatMap((name) => {
    const value = headers[name];
    if (value === undefined) return [];
    const text = name === 'location' ? String(value).replace(/[?#].*$/s, '?…') : String(value);
    return [[name, asText(redact(text, spellings)).slice(0, 256).toWellFormed()]];
  });
  const read = new TextDecoder().decode(body);
  const text = asText(isCut ? redactTruncated(read, spellings) : redact(read, spellings));
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

/** Control characters except line feeds and tabs, invisible formatting, and line separators. */
const notText = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

const asText = (text: string): string => text.toWellFormed().replaceAll(/\r\n?/g, '\n').replaceAll(notText, '\ufffd');

const maxBytes = 1_024;

/** Drops a character that was cut at the end. */
const firstBytes = (text: string): string =>
  new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true });
