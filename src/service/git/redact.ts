import { createRedactor } from '../../interface/redact.ts';
import { basicAuthorization, type Remote } from './remote.ts';

/** Takes out of a text what would let its reader into the remote, or into any other address it mentions. */
export function createRemoteRedactor(remote: Remote | undefined): (text: string) => string {
  const redactSecrets = createRedactor(remote === undefined ? [] : secretsOf(remote));
  return (text) =>
    redactSecrets(text)
      .replaceAll(/\/\/[^\s/]*@/g, '//')
      .replaceAll(/(authorization:\s*)\S+(\s+\S+)?/gi, '$1***');
}

function secretsOf({ credentials }: Remote): readonly string[] {
  if (credentials === undefined) return [];
  const { username, password } = credentials;
  const secrets = [password, ...(mayBeToken(username, password) ? [username] : [])];
  return [basicAuthorization(credentials).slice('Basic '.length), ...secrets];
}

/** A short user name with a password is a word such as `git`; a long one, or one without a password, may be a token. */
function mayBeToken(username: string, password: string): boolean {
  return username.length > 8 || password === '' || password === 'x-oauth-basic';
}
