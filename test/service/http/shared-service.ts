import { afterAll, beforeAll, expect } from 'vitest';
import { type DatabaseKind, sqlite } from '../../support/databases.ts';
import {
  type Ask,
  type Reply,
  type RunningService,
  type RunningServiceOptions,
  startTestService,
} from '../../support/running-service.ts';
import { asDescribed } from './described-operations.ts';

export interface SharedService extends RunningService {
  /** The secret of a token with all scopes. */
  readonly secret: string;
  /** A workspace for tests that do not need an empty one. */
  readonly home: string;
  /** A new workspace, with its locks as seen with the token with all scopes. */
  newWorkspace(): Promise<{ readonly id: string } & Locks>;
}

/** Splits text into words: a table of words is easier to read than an array with a line for each. */
export const words = (text: string): string[] => text.trim().split(/\s+/);

/** One service that all tests of a file share. Each of its responses must be as the OpenAPI document describes it. */
export function sharedService(kind: DatabaseKind = sqlite, options: RunningServiceOptions = {}): SharedService {
  // Filled in before the first test runs.
  const shared = {} as SharedService;
  beforeAll(async () => {
    const service = await startTestService(kind, options);
    // No git process is started for an invalid remote.
    const home = await service.workspace('not a remote');
    const { secret } = await service.token();
    async function newWorkspace() {
      const id = await service.workspace();
      return { id, ...locksOf(service, id, secret) };
    }
    const ask: RunningService['ask'] = async (method, path, given) =>
      asDescribed(method, path, await service.ask(method, path, given));
    Object.assign(shared, service, { ask, secret, home, newWorkspace });
  });
  afterAll(() => shared.stop());
  return shared;
}

type Headers = Readonly<Record<string, string>>;

/** The locks of a workspace, as acquired, released and listed with the token. The default ttl is 1h. */
export function locksOf({ ask }: Pick<RunningService, 'ask'>, workspace: string, token: string) {
  const address = `/v1/workspaces/${workspace}/locks`;
  const list = (query = '', more: Ask = {}): Promise<Reply> => ask('GET', address + query, { token, ...more });
  return {
    list,
    paths: async (query = ''): Promise<string[]> => pathsIn(await list(query)),
    take: (
      path: string,
      { ttl = '1h', ...headers }: Headers = {},
      more: { readonly note?: string } = {},
    ): Promise<Reply> => ask('POST', address, { token, headers, json: { path, type: 'exclusive', ttl, ...more } }),
    release: (path: string, headers: Headers = {}, query = ''): Promise<Reply> =>
      ask('DELETE', `${address}/${encodeURIComponent(path)}${query}`, { token, headers }),
  };
}

export type Locks = ReturnType<typeof locksOf>;

export const pathsIn = ({ body }: Reply): string[] => body.locks.map(({ path }: { path: string }) => path);

/** Waits until this number of clients wait for a path. */
export async function untilWaiting({ ask }: Pick<RunningService, 'ask'>, token: string, count: number): Promise<void> {
  async function waiters(): Promise<number> {
    const { text } = await ask('GET', '/metrics', { token });
    const ofWorkspaces = [...text.matchAll(/^workspace_lock_waiters\{[^}]*\} (\d+)$/gm)];
    return ofWorkspaces.reduce((sum, [, some]) => sum + Number(some), 0);
  }
  await expect.poll(waiters, { interval: 10 }).toBe(count);
}
