const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;

/** Whether a host name or an IP address, with or without its brackets, is this very machine (RFC 6761 section 6.3). */
export function isLoopback(host: string): boolean {
  // A URL spells every address in one way.
  const url = URL.parse(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`);
  return url !== null && loopback.test(url.hostname);
}
