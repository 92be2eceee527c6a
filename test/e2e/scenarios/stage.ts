import { onTestFinished } from 'vitest';
import type { Lock } from '../../../src/service/contract/schemas.ts';
import { toLock } from '../../../src/service/locks/find.ts';
import { isPresent } from '../../../src/service/locks/waits.ts';
import { type FaultProxy, type Manner, startFaultProxy } from '../../support/fault-proxy.ts';
import { type Job, type JobOptions, openJob, type StepOptions } from '../../support/runner/job.ts';
import { endProcesses } from '../../support/runner/left-processes.ts';
import type { RunningService, RunningServiceOptions } from '../../support/running-service.ts';
import { everyForm } from '../../support/runs.ts';
import { serviceOfTests } from '../../support/service-of-tests.ts';
import { changeRows } from '../../support/stored-rows.ts';
import { forceRelease, takeLock } from '../scene.ts';
import { type Clock, openClock } from './clock.ts';

let running: RunningService | undefined;

/** Starts one service for all tests of a file. */
export function useService(options?: RunningServiceOptions): RunningService {
  running = serviceOfTests(options);
  return running;
}

function runningService(): RunningService {
  if (running === undefined) throw new Error('Call useService() at the top of the file.');
  return running;
}

/** A lock as taken by another job, a person or a script, by default with the token of the jobs. */
interface Taking {
  readonly token?: string;
  readonly ttl?: string;
  readonly origin?: string;
}

type AtEnd = (cleanUp: () => Promise<void>) => void;

let runs = 1_000;

export type Stage = Awaited<ReturnType<typeof openStage>>;

/**
 * A workspace of a service, by default that of `useService`, with its own tokens and the jobs that use it. Everything that
 * a test starts here ends with the test.
 */
export async function openStage(end: AtEnd = onTestFinished, service: RunningService = runningService()) {
  const { storage } = service;
  const { id: tokenId, secret: token } = await service.token({ name: 'build-bot', scopes: ['locks:write'] });
  const { secret: graces } = await service.token({ name: 'grace', scopes: ['locks:write'] });
  const workspace = await service.workspace();
  let proxied: FaultProxy | undefined;
  let clock: Clock | undefined;
  const baseUrl = (): string => proxied?.baseUrl ?? `${service.baseUrl}/v1`;

  async function startProxy(manner?: Manner): Promise<FaultProxy> {
    const told = { ...(clock && { clockAheadMs: clock.aheadMs }), ...manner };
    const proxy = await startFaultProxy(service.port, told);
    end(() => proxy.close());
    proxied = proxy;
    return proxy;
  }

  /** All current locks of the workspace, sorted by path. */
  async function locks(): Promise<readonly Lock[]> {
    const rows = storage.read.selectFrom('locks').selectAll().where('workspace_id', '=', workspace);
    return (await rows.where('expires_at', '>', Date.now()).orderBy('path').execute()).map(toLock);
  }

  const take = (path: string, { token: other = token, ttl = '1h', origin = '' }: Taking = {}): Promise<Lock> =>
    takeLock(service, workspace, path, { token: other, ttl, origin });

  return {
    ...{ service, workspace, locks, take },
    /** All jobs have it, with the scope `locks:write` and the owner `build-bot`. */
    ...{ token, tokenId },
    /** The token of another owner, `grace`. */
    graces,
    /** Base URL of the next job, which ends in `/v1`. */
    get baseUrl() {
      return baseUrl();
    },
    /** Opens a job, by default in a new run. */
    async job(given: JobOptions = {}): Promise<Job> {
      runs += 1;
      const job = await openJob({
        sharesProcesses: !everyForm,
        ...given,
        run: { runId: String(runs), ...given.run },
        secrets: [token],
        env: {
          WORKSPACE_BASE_URL: baseUrl(),
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
    /** Starts a proxy between the service and the jobs opened after it. */
    proxy: startProxy,
    /** Starts a clock and a proxy. Jobs and proxies that are started later follow the clock. */
    async clock(): Promise<Clock> {
      clock = await openClock({ storage, workspace, end });
      await startProxy();
      return clock;
    },
    lockOn: async (path: string) => (await locks()).find((lock) => lock.path === path),
    /** Whether a client is in line. One that has given up stays there for a moment. */
    async hasLine(): Promise<boolean> {
      const places = storage.read.selectFrom('waits').select('id').where('workspace_id', '=', workspace);
      return (await places.where(isPresent).executeTakeFirst()) !== undefined;
    },
    takenByGrace: (path: string) => take(path, { token: graces, origin: 'https://ci.example.com/runs/7' }),
    /** Releases the lock of any holder. */
    release: (path: string) => forceRelease(service, workspace, path),
    /** Lets a lock expire: a second ago. */
    expire: (path: string) =>
      changeRows(storage, 'locks', { expires_at: Date.now() - 1_000 }, { workspace_id: workspace, path }),
  };
}

/** A workspace of the service with one job. */
export async function openWithJob() {
  const stage = await openStage();
  return { stage, job: await stage.job() };
}

/** The same, with a proxy between the service and the job. */
export async function openWithProxy(manner?: Manner) {
  const stage = await openStage();
  const proxy = await stage.proxy(manner);
  return { stage, proxy, job: await stage.job() };
}

export const hero = 'Content/Hero.uasset';

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
