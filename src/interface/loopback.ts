const loopback = /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\]|\[::ffff:7f[\da-f]{2}:[\da-f]{1,4}\])$/;

/** Whether a host name or an IP address, with or without brackets, means this machine (RFC 6761 section 6.3). */
export function isLoopback(host: string): boolean {
  // URLs have only one spelling for each IP address.
  const url = URL.parse(`http://${host.includes(':') && !host.startsWith('[') ? `[${host}]` : host}`);
  return url !== null && loopback.test(url.hostname);
}
