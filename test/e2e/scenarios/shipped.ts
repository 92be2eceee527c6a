import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { openSqlite } from '../../../src/service/storage/sqlite.ts';
import type { Database, Storage } from '../../../src/service/storage/storage.ts';
import { createToken } from '../../../src/service/tokens/tokens.ts';
import { addWorkspace } from '../../../src/service/workspaces/workspaces.ts';
import { type FaultProxy, type Manner, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Job, type JobOptions, openJob } from '../../support/runner/job.ts';
import { ask } from '../../support/running-service.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';

/** A lock as another job, a person or a script would take it: with the token of the jobs unless told otherwise. */
export interface Taking {
  readonly token?: string;
  readonly ttl?: string;
  readonly origin?: string;
}

/** A workspace of the service as it is shipped, and the jobs that use it. */
export interface Shipped {
  readonly workspace: string;
  /** What all jobs have: `locks:write`, and the owner `build-bot`. */
  readonly token: string;
  /** Of another owner, `grace`. */
  readonly graces: string;
  /** Of somebody who may do everything. */
  readonly admins: string;
  /** A job of a run of its own; by the proxy where one is given. */
  job(proxy?: FaultProxy, options?: JobOptions): Promise<Job>;
  proxy(manner?: Manner): Promise<FaultProxy>;
  /** All locks of the workspace, however many pages they are. */
  locks(): Promise<readonly Lock[]>;
  lockOn(path: string): Promise<Lock | undefined>;
  take(path: string, taking?: Taking): Promise<Lock>;
  /** Whoever has it. */
  release(path: string): Promise<void>;
}

export interface ShippedService {
  /** `ownToken`: what the rate limit lets its jobs do, no job of another workspace has used. */
  workspace(options?: { readonly ownToken?: boolean }): Promise<Shipped>;
}

let runs = 20_000;

/**
 * The service as a process of its own, with the settings that it has when nobody sets any but `settings`. Whoever looks
 * at it has another token than the jobs, so that looking takes nothing of their rate.
 */
export function useShippedService(...settings: readonly string[]): ShippedService {
  let service: ServiceProcess | undefined;
  let storage: Storage | undefined;
  let buildBot = '';
  let graces = '';
  const running = (): ServiceProcess => {
    if (service === undefined) throw new Error('The service is not running yet.');
    return service;
  };
  /** Beside the service, as its commands do it, and without a process for each. */
  const change = <T>(work: (db: Database, now: Storage['now']) => Promise<T>): Promise<T> => {
    if (storage === undefined) throw new Error('The storage is not open yet.');
    const { now } = storage;
    return storage.commit('global', (db) => work(db, now));
  };
  const newToken = async (name: string): Promise<string> => {
    const wanted = { name, scopes: ['locks:write', 'sync'], workspaces: null, lifetime: null } as const;
    return (await change((db, now) => createToken(db, now, wanted))).secret;
  };

  beforeAll(async () => {
    service = await startServiceProcess({ args: settings });
    storage = await openSqlite({ folder: service.folder });
    [buildBot, graces] = await Promise.all([newToken('build-bot'), newToken('grace')]);
  });
  afterAll(async () => {
    await storage?.close();
    await service?.stop();
  });

  return {
    async workspace({ ownToken = false } = {}) {
      const { baseUrl, token: admins } = running();
      const token = ownToken ? await newToken('build-bot') : buildBot;
      runs += 1;
      const workspace = `w${runs}`;
      const remote = 'https://git.example.com/assets.git';
      await change((db, now) => addWorkspace(db, now, { id: workspace, remote }));
      const address = `/workspaces/${workspace}/locks`;
      const onPath = (path: string): string => `${address}/${encodeURIComponent(path)}`;

      async function locks(): Promise<readonly Lock[]> {
        const all: Lock[] = [];
        for (let cursor = ''; ; ) {
          const { status, body, text } = await ask(baseUrl, 'GET', `${address}?limit=1000${cursor}`, { token: admins });
          if (status !== 200) throw new Error(`The locks could not be listed: ${text}`);
          all.push(...body.locks);
          if (typeof body.next_cursor !== 'string') return all;
          cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
        }
      }

      return {
        workspace,
        token,
        graces,
        admins,
        async job(proxy, options = {}) {
          runs += 1;
          const job = await openJob({
            ...options,
            run: { runId: String(runs), ...options.run },
            secrets: [token],
            env: {
              WORKSPACE_BASE_URL: proxy?.baseUrl ?? baseUrl,
              WORKSPACE_TOKEN: token,
              WORKSPACE_ID: workspace,
              ...options.env,
            },
          });
          onTestFinished(() => job.end());
          return job;
        },
        async proxy(manner) {
          const proxy = await startFaultProxy(Number(new URL(baseUrl).port), manner);
          onTestFinished(() => proxy.close());
          return proxy;
        },
        locks,
        lockOn: async (path) => (await locks()).find((lock) => lock.path === path),
        async take(path, { token: other = token, ttl = '1h', origin } = {}) {
          const { status, body, text } = await ask(baseUrl, 'POST', address, {
            token: other,
            json: { path, type: 'exclusive', ttl },
            headers: { ...(origin !== undefined && { referer: origin }) },
          });
          if (status !== 201) throw new Error(`The lock on ${path} could not be taken: ${text}`);
          return body;
        },
        async release(path) {
          const { status, text } = await ask(baseUrl, 'DELETE', `${onPath(path)}?force=true`, { token: admins });
          if (status !== 204) throw new Error(`The lock on ${path} could not be released: ${text}`);
        },
      };
    },
  };
}
