import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import type { Lock } from '../../../src/interface/resources.ts';
import { toLock } from '../../../src/service/locks/find.ts';
import { isPresent } from '../../../src/service/locks/waits.ts';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { type FaultProxy, type Manner, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Job, type JobOptions, openJob, type StepOptions } from '../../support/runner/job.ts';
import { endProcesses } from '../../support/runner/left-processes.ts';
import { ask } from '../../support/running-service.ts';
import { everyForm } from '../../support/runs.ts';
import { type Clock, openClock } from './clock.ts';

/** A lock as taken by another job, a person or a script, by default with the token of the jobs. */
export interface Taking {
  readonly token?: string;
  readonly ttl?: string;
  readonly origin?: string;
}

export interface PlacedJobOptions extends JobOptions {
  /** The most recently started proxy by default. */
  readonly proxy?: FaultProxy;
}

/** A workspace of a service, with the jobs that use it. Everything that a test starts here ends with the test. */
export interface Place {
  readonly workspace: string;
  /** Token of all jobs, with the scope `locks:write` and the owner `build-bot`. */
  readonly token: string;
  /** Token of another owner, `grace`. */
  readonly graces: string;
  /** Base URL of the next job, which ends in `/v1`. */
  readonly baseUrl: string;
  /** Opens a job, by default in a new run. */
  job(options?: PlacedJobOptions): Promise<Job>;
  /** Starts a proxy between the service and the jobs opened after it. */
  proxy(manner?: Manner): Promise<FaultProxy>;
  /** Starts a clock and a proxy. Jobs and proxies that are started later follow the clock. */
  clock(): Promise<Clock>;
  /** All current locks of the workspace, sorted by path. */
  locks(): Promise<readonly Lock[]>;
  lockOn(path: string): Promise<Lock | undefined>;
  /** Whether a client is in line. One that has given up stays there for a moment. */
  hasLine(): Promise<boolean>;
  take(path: string, taking?: Taking): Promise<Lock>;
  takenByGrace(path: string): Promise<Lock>;
  /** Releases the lock of any holder. */
  release(path: string): Promise<void>;
  /** Changes the stored times of a lock. By default, it expired a second ago. */
  expire(path: string, times?: { readonly acquired_at?: number; readonly expires_at?: number }): Promise<void>;
}

export interface PlaceOptions extends Pick<Place, 'workspace' | 'token' | 'graces' | 'baseUrl'> {
  readonly storage: Storage;
  /** Token with all scopes. */
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
      // Steps may leave renewal processes behind, including some that the program under test started itself.
      end(() => job.end().finally(() => endProcesses(job.leftProcesses())));
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
      return (await rows.where('expires_at', '>', Date.now()).orderBy('path').execute()).map(toLock);
    },
    lockOn: async (path) => (await place.locks()).find((lock) => lock.path === path),
    async hasLine() {
      const places = storage.read.selectFrom('waits').select('id').where('workspace_id', '=', workspace);
      return (await places.where(isPresent(sql.lit(Date.now()))).executeTakeFirst()) !== undefined;
    },
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

/** A step that locks literal paths. */
export const locking = (
  paths: string | readonly string[],
  inputs: Readonly<Record<string, string>> = {},
): StepOptions => ({
  with: { operation: 'lock', glob: 'false', path: typeof paths === 'string' ? paths : paths.join('\n'), ...inputs },
});

export const unlocking = (inputs: Readonly<Record<string, string>>): StepOptions => ({
  with: { operation: 'unlock', ...inputs },
});

/** Returns `Content/0001.uasset` and so on. */
export const manyPaths = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `Content/${String(index + 1).padStart(4, '0')}.uasset`);

/** Whether to run with the number of jobs and rounds of a soak test. */
export const soak = process.env['SOAK'] === '1';
