import type { Target } from '../outbound/target.ts';
import { errorCode } from '../platform/system-errors.ts';

export type Stage = 'resolving' | 'connecting' | 'securing' | 'waiting';

export function timeoutReason({ origin }: Target, stage: Stage, limitMs: number): string {
  const within = `within ${limitMs / 1_000} s`;
  switch (stage) {
    case 'resolving':
      return `The name of ${origin} was not resolved ${within}.`;
    case 'connecting':
      return `${origin} did not accept a connection ${within}.`;
    case 'securing':
      return `${origin} accepted a connection, but did not complete the TLS handshake ${within}.`;
    case 'waiting':
      return `${origin} accepted a connection, but did not respond ${within}.`;
  }
}

const certificateFaults: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has expired',
  CERT_NOT_YET_VALID: 'is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'was signed by an authority that this machine does not trust',
  UNABLE_TO_GET_ISSUER_CERT: 'was signed by an authority that this machine does not know',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'was signed by an authority that this machine does not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'was sent without the certificate of the authority that signed it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
};

/** Limit for headers and body, including all interim responses: RFC 9110, section 15.2 allows any number of them. */
export const maxResponseBytes = 64 * 1_024;

export const tooLong = 'RESPONSE_TOO_LONG';

export function failureReason({ origin }: Target, stage: Stage, error: unknown): string {
  const code = errorCode(error);
  const because = code === '' ? '' : ` (${code})`;
  switch (stage) {
    case 'resolving':
      return `The name of ${origin} does not resolve${because}.`;
    case 'connecting':
      return `${origin} did not accept a connection${because}.`;
    case 'securing': {
      const fault = certificateFaults[code];
      return fault === undefined
        ? `The TLS handshake with ${origin} failed${because}.`
        : `The TLS certificate of ${origin} ${fault}${because}.`;
    }
    case 'waiting':
      if (code === tooLong)
        return `${origin} sent more than ${maxResponseBytes / 1_024} KB, and the connection was cut.`;
      if (code === 'HPE_HEADER_OVERFLOW') return `${origin} sent headers that are too long${because}.`;
      if (code.startsWith('HPE_')) return `${origin} sent something that is not HTTP${because}.`;
      // In TLS 1.3, a receiver rejects a client only after the client has completed its side of the handshake.
      if (code.startsWith('ERR_SSL_')) return `The TLS handshake with ${origin} failed${because}.`;
      return `${origin} closed the connection without a response${because}.`;
  }
}

export function rejectionReason({ origin }: Target, status: number): string {
  if (status >= 300 && status < 400) {
    return `${origin} responded with the redirect ${status}. Redirects are not followed: register the URL it leads to.`;
  }
  return `${origin} responded with the status ${status}.`;
}
