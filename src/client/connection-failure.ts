import type { ConnectionFailed } from './failure.ts';
import type { ServiceText } from './service-text.ts';

const neverConnected = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'EPROTO',
]);

/** What breaks before a request can be sent, but is named like what breaks after. */
const unconnectedWords = /^tunneling socket could not be established|before secure TLS connection was established/;

/** As OpenSSL and Node name what is wrong with a certificate. */
const certificate = /CERT|SELF_SIGNED|^UNABLE_TO_(GET|VERIFY|DECODE)|^HOSTNAME_MISMATCH$|^INVALID_CA$/;

const longestWords = 300;

/** It is about a flag of the command line, which whoever reads this did not write. */
const tipOfNode = /; if the root CA is installed locally.*$/s;

/** When a name has several addresses, the errors of all of them come in one that has no words of its own. */
const wordsOf = (error: Error): string =>
  error instanceof AggregateError && error.message === ''
    ? error.errors.map((each) => (each instanceof Error ? each.message : String(each))).join('; ')
    : error.message;

const textAt = (error: object, name: 'code' | 'syscall'): string | undefined => {
  const value: unknown = Reflect.get(error, name);
  return typeof value === 'string' ? value : undefined;
};

export function connectionFailure(thrown: unknown, texts: ServiceText): ConnectionFailed {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const code = textAt(error, 'code');
  const untrusted = code !== undefined && certificate.test(code);
  const unconnected =
    untrusted ||
    textAt(error, 'syscall') === 'connect' ||
    (code !== undefined && neverConnected.has(code)) ||
    unconnectedWords.test(error.message);
  const words = texts.line(wordsOf(error).replace(tipOfNode, ''), longestWords);
  return {
    kind: 'connection',
    code,
    words: code === undefined || words.includes(code) ? words : `${words} (${code})`,
    mayHaveArrived: !unconnected,
    untrusted,
  };
}
