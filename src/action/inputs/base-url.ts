import { isLoopback } from '../../interface/loopback.ts';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';

/** The address of the service's interface, without a slash at its end. */
export function parseBaseUrl(text: string, allowHttp: boolean): Parsed<string> {
  const url = URL.parse(text);
  if (url === null) return refused('It has to be an address such as https://workspaces.example.com/v1.');
  if (url.username !== '' || url.password !== '') {
    return refused('It must not hold a user name or a password: the token is sent in a header.');
  }
  if (text.includes('?') || text.includes('#')) return refused('It must not have a query or a fragment.');
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('It has to begin with https://.');
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    return refused(
      'Plain http would show the token to everybody on the way. Use https, or set `allow-http: true` if the network is yours alone.',
    );
  }
  const address = url.href.replace(/(?<!\/)\/+$/, '');
  if (!address.endsWith('/v1')) return refused('It has to end in the version of the interface, /v1.');
  return accepted(address);
}
