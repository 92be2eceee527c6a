import { createRedactor } from '../../interface/redact.ts';
import { basicAuthorization, type Remote } from './remote.ts';

/** Redacts the credentials of the remote, and those in any URL of the text: before the host, or signed in the query. */
export function createRemoteRedactor(remote: Remote | undefined): (text: string) => string {
  const redactSecrets = createRedactor(remote === undefined ? [] : secretsOf(remote));
  return (text) =>
    redactSecrets(text)
      .replaceAll(/\/\/[^\s/]*@/g, '//')
      .replaceAll(/(\bhttps?:\/\/[^\s?]*\?)\S+/gi, '$1***')
      .replaceAll(/(authorization:\s*)\S+(\s+\S+)?/gi, '$1***');
}

function secretsOf({ credentials }: Remote): readonly string[] {
  if (credentials === undefined) return [];
  const { username, password } = credentials;
  const secrets = [password, ...(mayBeToken(username, password) ? [username] : [])];
  return [basicAuthorization(credentials).slice('Basic '.length), ...secrets];
}

/** A user name may be a token if it is long or has no password. A short one with a password is a word such as `git`. */
function mayBeToken(username: string, password: string): boolean {
  return username.length > 8 || password === '' || password === 'x-oauth-basic';
}
