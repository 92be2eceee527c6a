import type { IncomingMessage } from 'node:http';

/** `uri-host [ ":" port ]` of RFC 9110 section 7.2, with what RFC 3986 section 3.2.2 lets a host be. */
const authority = /^(?:\[[0-9a-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;

/**
 * RFC 9112 section 3.2: exactly one Host, and one that can be a host; before HTTP/1.1 there was none. The service does
 * not read it any further: its own addresses are relative.
 */
export function hasValidHost({ headersDistinct, httpVersion }: IncomingMessage): boolean {
  const hosts = headersDistinct['host'] ?? [];
  const [host] = hosts;
  if (host === undefined) return httpVersion === '1.0';
  return hosts.length === 1 && authority.test(host);
}
