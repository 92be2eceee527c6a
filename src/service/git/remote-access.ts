import type { Remote } from './remote.ts';

/**
 * git refuses to serve a repository that another user owns, and reads the exception from nowhere but its own command
 * line and the configuration files that the service shuts out. Only the operator can register a repository on this
 * disk, and serving one runs nothing that its owner could have put there (git-upload-pack(1), SECURITY).
 */
const serveAnyOwner = "--upload-pack=git -c 'safe.directory=*' upload-pack";

/** The arguments that name the remote; nothing behind them is taken for an option. */
export function remoteArguments(remote: Remote): readonly string[] {
  return [...(remote.kind === 'file' ? [serveAnyOwner] : []), '--end-of-options', remote.address];
}

export const basicAuthorization = (username: string, password: string): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;

/** The settings that let git in, for this host alone. They are secrets: they go through the environment of git. */
export function accessSettings({ address, credentials }: Remote): Readonly<Record<string, string>> {
  if (credentials === undefined) return {};
  const authorization = basicAuthorization(credentials.username, credentials.password);
  return { [`http.${new URL(address).origin}/.extraHeader`]: `Authorization: ${authorization}` };
}
