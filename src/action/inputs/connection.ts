import type { Duration } from '../../interface/duration.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { parseBaseUrl } from './base-url.ts';
import { complete, type Read, type Reader } from './reader.ts';
import { isToken, parseBoolean, parseDurationBetween, parseWholeNumber } from './values.ts';

export interface Connection {
  readonly baseUrl: string;
  readonly token: string;
  readonly requestTimeout: Duration;
  /** Attempts after the first. */
  readonly retries: number;
}

const parseToken = (text: string): Parsed<string> =>
  isToken(text)
    ? accepted(text)
    : refused('It has to be an API token of the service, in one piece: give it from a secret.');

export function readConnection({ read }: Reader): Read<Connection> {
  const allowHttp = read('allow-http', parseBoolean);
  return complete<Connection>({
    // A wrong allow-http is told by itself; what it would have allowed is not held against the address.
    baseUrl: read('base-url', (text) => parseBaseUrl(text, allowHttp ?? true)),
    token: read('token', parseToken),
    requestTimeout: read('request-timeout', parseDurationBetween({ seconds: 1 }, { seconds: 3_600 })),
    retries: read('retries', parseWholeNumber(100)),
  });
}
