import type { Remote } from './remote.ts';
import { basicAuthorization } from './remote-access.ts';

const hidden = '***';

/** A short user name beside a password is a word such as `git`; a long one, or one that stands alone, may be a token. */
function mayBeToken(username: string, password: string): boolean {
  return username.length > 8 || password === '' || password === 'x-oauth-basic';
}

function secretsOf({ credentials }: Remote): readonly string[] {
  if (credentials === undefined) return [];
  const { username, password } = credentials;
  const secrets = [password, ...(mayBeToken(username, password) ? [username] : [])];
  return [
    basicAuthorization(username, password).slice('Basic '.length),
    ...secrets.flatMap((secret) => [encodeURIComponent(secret), secret]),
  ].filter((secret) => secret !== '');
}

/** The text without anything that would let its reader into the remote, or into any other address it mentions. */
export function redact(text: string, remote: Remote | undefined): string {
  const known = (remote === undefined ? [] : secretsOf(remote)).toSorted((one, other) => other.length - one.length);
  return known
    .reduce((rest, secret) => rest.replaceAll(secret, hidden), text)
    .replaceAll(/\/\/[^\s/]*@/g, '//')
    .replaceAll(/(authorization:\s*)\S+(\s+\S+)?/gi, `$1${hidden}`);
}
