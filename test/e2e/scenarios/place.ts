import { onTestFinished } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { lockOf } from '../../../src/service/locks/lock-row.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type FaultProxy, type Manner, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Job, type JobOptions, openJob, type StepOptions } from '../../support/runner/job.ts';
import { ask } from '../../support/running-service.ts';
import { everyForm } from '../../support/runs.ts';
import { type Clock, openClock } from './clock.ts';

/** A lock as another job, a person or a script would take it: with the token of the jobs unless told otherwise. */
export interface Taking {
  readonly token?: string;
  readonly ttl?: string;
  readonly origin?: string;
}

export interface PlacedJobOptions extends JobOptions {
  /** That which was started last, if not given. */
  readonly proxy?: FaultProxy;
}

/** A workspace of a service, and the jobs that use it. What a test starts here ends with it. */
export interface Place {
  readonly workspace: string;
  /** What all jobs have: `locks:write`, and the owner `build-bot`. */
  readonly token: string;
  /** Of another owner, `grace`. */
  readonly graces: string;
  /** Where the next job finds the service: ends in `/v1`. */
  readonly baseUrl: string;
  /** A job of a run of its own, unless told otherwise. */
  job(options?: PlacedJobOptions): Promise<Job>;
  /** Stands between service and jobs from here on. */
  proxy(manner?: Manner): Promise<FaultProxy>;
  /** Starts a clock, and a proxy. Jobs and proxies that are started later follow the clock. */
  clock(): Promise<Clock>;
  /** All locks of the workspace that have not expired, by their paths. */
  locks(): Promise<readonly Lock[]>;
  lockOn(path: string): Promise<Lock | undefined>;
  take(path: string, taking?: Taking): Promise<Lock>;
  takenByGrace(path: string): Promise<Lock>;
  /** Whoever has it. */
  release(path: string): Promise<void>;
  /** Lets time pass for one lock, as its row has it: without other values it ended a second ago. */
  expire(path: string, times?: { readonly acquired_at?: number; readonly expires_at?: number }): Promise<void>;
}

export interface PlaceOptions extends Pick<Place, 'workspace' | 'token' | 'graces' | 'baseUrl'> {
  readonly storage: Storage;
  /** Of somebody who may do everything. */
  readonly admins: string;
  readonly end?: (cleanUp: () => Promise<void>) => void;
}

let runs = 1_000;

export function openPlace(options: PlaceOptions): Place {
  const { storage, workspace, token, graces, admins, end = onTestFinished } = options;
  const address = `/workspaces/${workspace}/locks`;
  const { baseUrl } = options;
  let proxied: FaultProxy | undefined;
  let clock: Clock | undefined;

  const place: Place = {
    workspace,
    token,
    graces,
    get baseUrl() {
      return proxied?.baseUrl ?? baseUrl;
    },
    async job({ proxy = proxied, ...given } = {}) {
      runs += 1;
      const job = await openJob({
        sharesProcesses: !everyForm,
        ...given,
        run: { runId: String(runs), ...given.run },
        secrets: [token],
        env: {
          WORKSPACE_BASE_URL: proxy?.baseUrl ?? baseUrl,
          WORKSPACE_TOKEN: token,
          WORKSPACE_ID: workspace,
          ...clock?.env,
          ...given.env,
        },
      });
      end(() => job.end());
      return job;
    },
    async proxy(manner) {
      const told = { ...(clock && { clockAheadMs: clock.aheadMs }), ...manner };
      const proxy = await startFaultProxy(Number(new URL(baseUrl).port), told);
      end(() => proxy.close());
      proxied = proxy;
      return proxy;
    },
    async clock() {
      clock = await openClock({ storage, workspace, end });
      await place.proxy();
      return clock;
    },
    async locks() {
      const rows = storage.read.selectFrom('locks').selectAll().where('workspace_id', '=', workspace);
      return (await rows.where('expires_at', '>', Date.now()).orderBy('path').execute()).map(lockOf);
    },
    lockOn: async (path) => (await place.locks()).find((lock) => lock.path === path),
    async take(path, { token: other = token, ttl = '1h', origin } = {}) {
      const { status, body, text } = await ask(baseUrl, 'POST', address, {
        token: other,
        json: { path, type: 'exclusive', ttl },
        headers: { ...(origin !== undefined && { referer: origin }) },
      });
      if (status !== 201) throw new Error(`The lock on ${path} could not be taken: ${text}`);
      return body;
    },
    takenByGrace: (path) => place.take(path, { token: graces, origin: 'https://ci.example.com/runs/7' }),
    async release(path) {
      const forced = `${address}/${encodeURIComponent(path)}?force=true`;
      const { status, text } = await ask(baseUrl, 'DELETE', forced, { token: admins });
      if (status !== 204) throw new Error(`The lock on ${path} could not be released: ${text}`);
    },
    async expire(path, times = { expires_at: Date.now() - 1_000 }) {
      await storage.commit('global', (db) =>
        db.updateTable('locks').set(times).where('workspace_id', '=', workspace).where('path', '=', path).execute(),
      );
    },
  };
  return place;
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
