import { readFile } from 'node:fs/promises';
import { getCACertificates } from 'node:tls';
import { z } from '@hono/zod-openapi';
import { parseJson } from '../../contract/validate.ts';
import type { Git } from '../../git/git.ts';
import { basicAuthorization } from '../../git/remote.ts';
import type { Limits } from '../../git/run-git.ts';
import type { SshRemote } from '../../git/ssh.ts';
import type { TargetCheck } from '../../outbound/target-address.ts';
import type { WantedObjects } from '../../syncs/lfs-objects.ts';
import { lfsEndpoint } from '../../workspaces/lfs-settings.ts';
import { StoreUnusable } from './store-error.ts';

/** URL of a workspace's objects, and the credentials for it. */
export interface Store {
  readonly endpoint: URL;
  /** Headers for requests to the endpoint. They are secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** Whether the operator has configured the origin or host of this URL. */
  isConfigured(url: URL): boolean;
}

export interface StoreParts {
  readonly git: Pick<Git, 'lfsAuthenticate'>;
  readonly targets: TargetCheck;
  /** The operator's environment. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The workspace of a store. */
export type StoreOwner = Pick<WantedObjects, 'workspace' | 'remote' | 'settings'>;

/** Determines the store of a workspace. Ignores `.lfsconfig`, because everyone with push access can change it. */
export async function findStore(
  git: StoreParts['git'],
  { workspace, remote, settings }: StoreOwner,
  limits: Limits,
): Promise<Store> {
  const { ssh } = remote;
  if (settings.lfs_url === null && ssh !== undefined) return storeOverSsh(git, { ...remote, ssh }, limits);
  const address = lfsEndpoint({ id: workspace, remote: remote.address, lfs_url: settings.lfs_url });
  if (address === undefined) {
    throw new StoreUnusable(
      `The branch has LFS objects, but their URL is unknown, because the remote uses neither https nor ssh. Set it: workspace-service workspace update ${workspace} --lfs-url https://… ${withoutObjects(workspace)}`,
    );
  }
  const endpoint = new URL(address);
  const { credentials } = remote;
  const isAtRemote = remote.kind === 'https' && new URL(remote.address).origin === endpoint.origin;
  return {
    endpoint,
    headers: credentials !== undefined && isAtRemote ? { authorization: basicAuthorization(credentials) } : {},
    isConfigured: ({ origin }) => origin === endpoint.origin,
  };
}

/** CAs of Node and those that the operator's environment adds for git; undefined if it adds none. */
export async function trustedAuthorities(operator: NodeJS.ProcessEnv): Promise<readonly string[] | undefined> {
  const file = operator['GIT_SSL_CAINFO'] ?? operator['SSL_CERT_FILE'];
  const more = file === undefined ? undefined : await readFile(file, 'utf8').catch(() => undefined);
  return more === undefined ? undefined : [...getCACertificates(), more];
}

const withoutObjects = (workspace: string): string =>
  `Or exclude them from syncs: workspace-service workspace update ${workspace} --lfs none`;

/** Headers that control the connection or the content. A store must not set them. */
const reservedHeaders =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|transfer-encoding|content-.*|range|expect|accept-encoding)$/i;

/** Header fields from a store, without invalid ones and without those that a store must not set. */
export const headerFields = z
  .record(z.string(), z.unknown())
  .nullish()
  .transform((fields) =>
    Object.fromEntries(
      Object.entries(fields ?? {}).filter(
        (field): field is [string, string] =>
          /^[\w-]{1,100}$/.test(field[0]) &&
          !reservedHeaders.test(field[0]) &&
          typeof field[1] === 'string' &&
          /^[\x20-\x7e]{0,8192}$/.test(field[1]),
      ),
    ),
  );

const maxAddressLength = 16_384;

/** URL from the response of a store. */
export const storeUrl = z
  .string()
  .max(maxAddressLength)
  .transform((text, context) => {
    const url = URL.parse(text);
    if (url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '') return url;
    context.addIssue({ code: 'custom', message: 'It must be an http(s) URL.' });
    return z.NEVER;
  });

const authenticateSchema = z.object({ href: storeUrl, header: headerFields });

async function storeOverSsh(git: StoreParts['git'], remote: SshRemote, limits: Limits): Promise<Store> {
  const { host, login } = remote.ssh;
  const parsed = parseJson(authenticateSchema, await git.lfsAuthenticate(remote, limits));
  if (parsed === undefined)
    throw new StoreUnusable(
      `${login} did not return the URL of the LFS objects: its response to git-lfs-authenticate is not valid.`,
    );
  const { href, header } = parsed;
  return {
    endpoint: href,
    headers: header,
    isConfigured: ({ hostname }) => hostname.toLowerCase() === host.toLowerCase(),
  };
}
