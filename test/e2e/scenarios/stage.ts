import { afterAll, beforeAll, onTestFinished } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { lockOf } from '../../../src/service/locks/lock-row.ts';
import { databaseKinds } from '../../support/databases.ts';
import { type FaultProxy, type Manner, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Job, type JobOptions, openJob, type StepOptions } from '../../support/runner/job.ts';
import { type RunningService, startTestService } from '../../support/running-service.ts';

/** A lock as it stands in the service, live or not. */
export interface StandingLock extends Lock {
  readonly live: boolean;
}

export interface Stage {
  readonly service: RunningService;
  readonly workspace: string;
  readonly token: { readonly id: string; readonly secret: string };
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  /** A job with the service in its environment, of a run of its own unless told otherwise. */
  job(options?: JobOptions): Promise<Job>;
  /** All locks of the workspace that have not expired. */
  locks(): Promise<readonly Lock[]>;
  lockOn(path: string): Promise<Lock | undefined>;
  /** Takes a lock as somebody else would, with the same token unless another is given. */
  take(
    path: string,
    options?: { readonly ttl?: string; readonly token?: string; readonly origin?: string },
  ): Promise<Lock>;
  release(path: string): Promise<void>;
  /** Lets time pass for one lock: it ended so long ago. */
  expire(path: string, agoMs?: number): Promise<void>;
  /** Lets a lock be older than it is. */
  age(path: string, byMs: number): Promise<void>;
  /** Stands between jobs and service from here on. */
  proxy(manner?: Manner): Promise<FaultProxy>;
}

let running: RunningService | undefined;
let runs = 1_000;

/** One service for all tests of a file, each with a workspace and a token of its own. */
export function useService(): void {
  beforeAll(async () => {
    const [sqlite] = databaseKinds;
    if (sqlite === undefined) throw new Error('There is no database.');
    running = await startTestService(sqlite);
  });
  afterAll(() => running?.stop());
}

/** What a test plays on. What it starts is ended with the test. The service is that of `useService` if not given. */
export async function openStage(
  end: (cleanUp: () => Promise<void>) => void = onTestFinished,
  service: RunningService | undefined = running,
): Promise<Stage> {
  if (service === undefined) throw new Error('Call useService() at the top of the file.');
  const workspace = await service.workspace();
  const token = await service.token({ name: 'build-bot', scopes: ['locks:write'] });
  let baseUrl = `${service.baseUrl}/v1`;
  const address = (path = ''): string => `/v1/workspaces/${workspace}/locks${path && `/${encodeURIComponent(path)}`}`;
  const rows = () => service.storage.read.selectFrom('locks').selectAll().where('workspace_id', '=', workspace);

  const stage: Stage = {
    service,
    workspace,
    token,
    get baseUrl() {
      return baseUrl;
    },
    async job(options = {}) {
      runs += 1;
      const job = await openJob({
        ...options,
        run: { runId: String(runs), ...options.run },
        secrets: [token.secret],
        env: {
          WORKSPACE_BASE_URL: baseUrl,
          WORKSPACE_TOKEN: token.secret,
          WORKSPACE_ID: workspace,
          ...options.env,
        },
      });
      end(() => job.end());
      return job;
    },
    async locks() {
      const found = await rows().where('expires_at', '>', Date.now()).orderBy('path').execute();
      return found.map(lockOf);
    },
    lockOn: async (path) => (await stage.locks()).find((lock) => lock.path === path),
    async take(path, { ttl = '1h', token: other = token.secret, origin } = {}) {
      const reply = await service.ask('POST', address(), {
        token: other,
        json: { path, type: 'exclusive', ttl },
        headers: { ...(origin !== undefined && { referer: origin }) },
      });
      if (reply.status !== 201) throw new Error(`The lock on ${path} could not be taken: ${reply.text}`);
      return reply.body;
    },
    async release(path) {
      const { status, text } = await service.ask('DELETE', address(path), { token: token.secret });
      if (status !== 204) throw new Error(`The lock on ${path} could not be released: ${text}`);
    },
    async expire(path, agoMs = 1_000) {
      await service.storage.commit('global', (db) =>
        db
          .updateTable('locks')
          .set({ expires_at: Date.now() - agoMs })
          .where('workspace_id', '=', workspace)
          .where('path', '=', path)
          .execute(),
      );
    },
    async age(path, byMs) {
      await service.storage.commit('global', (db) =>
        db
          .updateTable('locks')
          .set(({ eb }) => ({ acquired_at: eb('acquired_at', '-', byMs) }))
          .where('workspace_id', '=', workspace)
          .where('path', '=', path)
          .execute(),
      );
    },
    async proxy(manner) {
      const proxy = await startFaultProxy(service.port, manner);
      end(() => proxy.close());
      baseUrl = proxy.baseUrl;
      return proxy;
    },
  };
  return stage;
}

/** A step that locks paths as they stand. */
export const locking = (
  paths: string | readonly string[],
  inputs: Readonly<Record<string, string>> = {},
): StepOptions => ({
  with: { operation: 'lock', glob: 'false', path: typeof paths === 'string' ? paths : paths.join('\n'), ...inputs },
});

export const unlocking = (inputs: Readonly<Record<string, string>>): StepOptions => ({
  with: { operation: 'unlock', ...inputs },
});

/** `Content/0001.uasset` and so on. */
export const manyPaths = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `Content/${String(index + 1).padStart(4, '0')}.uasset`);

/** Whether to play with as many jobs and rounds as a soak test has time for. */
export const soak = process.env['SOAK'] === '1';
