import { isAbsolute } from 'node:path';
import { accepted, type Parsed, refused } from '../../interface/parsed.ts';
import { createRedactor } from '../../interface/redact.ts';

/** Address of a stored remote without its credentials. Accepts local files, whether or not they are allowed now. */
export function redactRemote(text: string): string {
  const remote = parseRemote(text, { allowFile: true });
  return remote.ok ? remote.value.address : '';
}

interface RemoteCredentials {
  readonly username: string;
  readonly password: string;
}

/** A remote repository. Its address contains no credentials, so it can be displayed and passed as an argument. */
export interface Remote {
  readonly kind: 'https' | 'ssh' | 'file';
  readonly address: string;
  readonly credentials?: RemoteCredentials;
}

/**
 * git refuses to serve a repository that another user owns. It reads exceptions only from its command line and from
 * configuration files, which the service disables. Allowing any owner is safe: only the operator can register a
 * repository on this disk, and serving it runs no code of its owner (git-upload-pack(1), SECURITY).
 */
const serveAnyOwner = "--upload-pack=git -c 'safe.directory=*' upload-pack";

/** Arguments for the remote. git does not interpret later arguments as options. */
export function remoteArguments({ kind, address }: Remote): readonly string[] {
  return [...(kind === 'file' ? [serveAnyOwner] : []), '--end-of-options', address];
}

/** Settings with the credentials, for this host only. They are secret, so they are passed in the environment. */
export function accessSettings({ address, credentials }: Remote): Readonly<Record<string, string>> {
  if (credentials === undefined) return {};
  return { [`http.${new URL(address).origin}/.extraHeader`]: `Authorization: ${basicAuthorization(credentials)}` };
}

const allowedForms =
  'It must be https://host/path, ssh://user@host/path or user@host:path. Other protocols and remote helpers are refused.';

/** Parses the address of a remote as a user typed it. Rejects all forms that could make git run something else. */
export function parseRemote(text: string, { allowFile }: { readonly allowFile: boolean }): Parsed<Remote> {
  const reason = urlFormProblem(text);
  if (reason !== undefined) return refused(reason);
  if (/^https:\/\//i.test(text)) return parseHttps(text);
  if (/^file:\/\//i.test(text) || isAbsolute(text)) return parseFile(text, allowFile);
  if (/^http:/i.test(text))
    return refused('Plain http is refused: anyone on the network path could change what is fetched. Use https.');
  return parseSsh(text);
}

const basicAuthorization = ({ username, password }: RemoteCredentials): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

export const maxRemoteLength = 2_048;

/** The reason does not quote the address, which may contain a password. */
function urlFormProblem(text: string): string | undefined {
  if (text === '' || text.length > maxRemoteLength) return `The address must have 1 to ${maxRemoteLength} characters.`;
  if (!text.isWellFormed()) return 'The address is not valid Unicode: it has half of a surrogate pair.';
  if (/\p{Cc}|%[01][0-9a-f]|%7f/iu.test(text)) return 'The address must not have control characters, raw or encoded.';
  if (/\s/u.test(text)) return 'The address must not have spaces. In a URL, a space is written %20.';
  return text.startsWith('-') ? `The address must not start with -${likeOption}` : undefined;
}

function parseHttps(text: string): Parsed<Remote> {
  if (/[?#\\]/.test(text)) {
    return refused(
      'The address is written with /, and without a query or a fragment. In a password, ? is written %3F and # is %23.',
    );
  }
  if (!URL.canParse(text)) return refused('The address is not a valid URL. It must be like https://host/path.');
  const { origin, hostname, pathname, username, password } = new URL(text);
  if (hostname.startsWith('-')) return refused(`The host must not start with -${likeOption}`);
  if (pathname === '/') return refused('The address has no path to a repository.');
  if (isLikeOption(pathname)) return refused(optionPath);
  const remote: Remote = { kind: 'https', address: `${origin}${pathname}` };
  if (username === '' && password === '') return accepted(remote);
  try {
    const credentials = { username: decodeURIComponent(username), password: decodeURIComponent(password) };
    // RFC 7617, section 2: the first colon ends the user name.
    if (credentials.username.includes(':')) return refused('The user name must not have a colon.');
    // Not enumerable, so that printing or serializing the remote omits them.
    return accepted(Object.defineProperty(remote, 'credentials', { value: credentials, enumerable: false }));
  } catch {
    return refused('The user name or the password is not valid percent-encoding. A % in it is written %25.');
  }
}

/** Stricter than RFC 3986, because more characters would have a special meaning for ssh or a shell. */
const plainName = /^[a-z0-9_][a-z0-9._+-]*$/i;
const nameRule = 'must start with a letter, digit or _, and may contain only letters, digits and . _ + -.';
const bracketedAddress = /^\[[0-9a-f:.]+\]$/i;

/** `ssh://user@host:port/path`, or the short form `user@host:path`. */
function parseSsh(text: string): Parsed<Remote> {
  const rest = text.replace(/^ssh:\/\//i, '');
  const isUrl = rest !== text;
  const form = isUrl
    ? /^(?:([^@/]*)@)?(\[[^\]/]*\]|[^:/@]*)(?::(\d+))?(\/.+)$/
    : /^([^@/:]*)@(\[[^\]/]*\]|[^@/:]*):()(.+)$/;
  const [, user, host = '', port, path] = form.exec(rest) ?? [];
  if (path === undefined) return refused(allowedForms);
  if (port && (Number(port) < 1 || Number(port) > 65_535)) {
    return refused('The port of the address is not between 1 and 65535.');
  }
  if (user?.includes(':')) {
    return refused('An ssh address must not have a password. Remove it, and give the service an SSH key.');
  }
  if (user !== undefined && !plainName.test(user)) return refused(`The user name in an ssh address ${nameRule}`);
  if (!plainName.test(host) && !bracketedAddress.test(host)) return refused(`The host in an ssh address ${nameRule}`);
  if (isLikeOption(path)) return refused(optionPath);
  return accepted({ kind: 'ssh', address: isUrl ? `ssh://${rest}` : text });
}

function parseFile(text: string, allowFile: boolean): Parsed<Remote> {
  if (!allowFile) {
    return refused('Repositories on the disk of the service are refused, unless it runs with --allow-file-remotes.');
  }
  const path = text.replace(/^file:\/\//i, '');
  if (!isAbsolute(path)) return refused('A file address has no host. It must be like file:///path.');
  if (isLikeOption(path)) return refused(optionPath);
  return accepted({ kind: 'file', address: path === text ? text : `file://${path}` });
}

const likeOption = ': git would take it for an option.';
const optionPath = `The path must not start with -, and no part of it with --${likeOption}`;
const isLikeOption = (path: string): boolean => /^-|(?:^|\/)--/.test(path);

/** Redacts the credentials of the remote, and those in other URLs of the text: before the host or in a signed query. */
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
