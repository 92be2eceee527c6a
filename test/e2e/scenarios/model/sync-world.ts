import { rename } from 'node:fs/promises';
import { expect } from 'vitest';
import { type Fault, type Manner, type Passed, startFaultProxy } from '../../../support/fault-proxy.ts';
import { fasterTime } from '../../../support/preload.ts';
import { openJob } from '../../../support/runner/job.ts';
import type { RunningStep, StepResult } from '../../../support/runner/step.ts';
import { everyForm } from '../../../support/runs.ts';
import { isOfGateway } from './gateway-faults.ts';
import { watchedNetwork } from './network.ts';
import type { SyncService } from './sync-service.ts';
import { expectToldTruly, speed } from './told-of-sync.ts';

export const branches = ['main', 'topic', 'release/1.0'];

/** Jobs that sync a workspace, with its remote, the service, the network, and the expected results. */
export interface SyncWorld {
  /** Runs this number of jobs at once. */
  sync(jobs: number, branch: string, waitSeconds: number): Promise<void>;
  /** Cancels or kills a sync step when it sends the request with this number. */
  stopped(how: 'cancel' | 'kill', atRequest: number, branch: string): Promise<void>;
  /** Commits now, or before the request with this number, counted from now on. */
  commit(branch: string, atRequest?: number): Promise<void>;
  restart(atRequest?: number): Promise<void>;
  /** Moves the remote away, or back. */
  moveRemote(): Promise<void>;
  network(faults: readonly Fault[]): void;
  /** Waits for all syncs, and expects that the mirror has the result of the last one of each branch. */
  end(): Promise<void>;
  close(): Promise<void>;
}

/** A head of a branch at the remote, with the earliest and the latest time of its start. */
interface Head {
  readonly commit: string;
  readonly from: number;
  readonly surely: number;
}

let worlds = 0;

const requestTimeoutSeconds = 60;

/** A step may give up a request after this time. A fifth of the timeout is a tolerance for a busy machine. */
const surelyAwaitedMs = (0.8 * requestTimeoutSeconds * 1_000) / speed;

const arrives = (fault: Fault | undefined): boolean =>
  fault === undefined || fault.kind === 'delay' || fault.kind === 'held-back';

export async function openSyncWorld(service: SyncService, manner: Manner): Promise<SyncWorld> {
  worlds += 1;
  const world = worlds;
  // Each world has its own branches, independent of the world before it.
  const prefix = `world-${world}/`;
  const { workspace, remote, token } = service;
  const heads = new Map<string, Head[]>();
  const proxy = await startFaultProxy(service.port, manner);
  const troubles: { readonly from: number; to: number; readonly ofGateway?: boolean }[] = [];
  const faulted = new Map<number, Fault>();
  /** Number of sync requests by branch. */
  const asked = new Map<string, number>();
  let commits = 0;
  let runs = 0;
  let away = false;
  const network = watchedNetwork(proxy, ({ at }, fault) => {
    faulted.set(at, fault);
    // A hanging request hangs as long as the client waits.
    troubles.push({
      from: at,
      to: fault.kind === 'silence' ? Number.POSITIVE_INFINITY : at + 200,
      ofGateway: isOfGateway(fault),
    });
  });

  const within = (branch: string): string => `${prefix}${branch}`;

  function commitTo(name: string): void {
    const branch = within(name);
    commits += 1;
    const before = performance.now();
    remote.commit({ branch, files: { [`file-${commits % 5}`]: `${commits}\n` } });
    const head: Head = { commit: remote.head(branch), from: before, surely: performance.now() };
    heads.set(branch, [...(heads.get(branch) ?? []), head]);
  }
  for (const branch of branches) commitTo(branch);

  const headsIn =
    (branch: string) =>
    (from: number, to: number): readonly string[] =>
      (heads.get(branch) ?? [])
        .filter((head, index, all) => head.from <= to && (all[index + 1]?.surely ?? Number.POSITIVE_INFINITY) >= from)
        .map(({ commit }) => commit);

  async function play(
    name: string,
    waitSeconds: number,
    during?: (step: RunningStep, origin: string) => Promise<StepResult>,
  ): Promise<void> {
    runs += 1;
    const branch = within(name);
    asked.set(branch, (asked.get(branch) ?? 0) + 1);
    const runId = `${world}${String(runs).padStart(4, '0')}`;
    const origin = `https://github.com/octo-games/dragon/actions/runs/${runId}/attempts/1`;
    const job = await openJob({
      sharesProcesses: !everyForm,
      run: { runId },
      secrets: [token],
      env: { WORKSPACE_BASE_URL: proxy.baseUrl, WORKSPACE_TOKEN: token, WORKSPACE_ID: workspace },
    });
    try {
      const startedAt = performance.now();
      const step = await job.step({
        with: { operation: 'sync', branch, wait: `${waitSeconds}s`, 'request-timeout': `${requestTimeoutSeconds}s` },
        env: { NODE_OPTIONS: fasterTime(speed) },
      });
      const result = await (during?.(step, origin) ?? step.finished);
      const endedAt = performance.now();
      const own = (one: Passed): boolean => one.headers.referer === origin;
      expectToldTruly({
        branch,
        waitSeconds,
        result,
        endedAt,
        stopped: during !== undefined,
        passed: proxy.passed.filter(own),
        arrived: ({ at, answeredAt }) =>
          answeredAt !== undefined && answeredAt - at < surelyAwaitedMs && arrives(faulted.get(at)),
        troubled: (from, to) => troubles.some((trouble) => trouble.from <= to && trouble.to >= from),
        metOnlyGateways: !troubles.some(
          ({ from, to, ofGateway = false }) => !ofGateway && from <= endedAt && to >= startedAt,
        ),
        heads: headsIn(branch),
        syncs: await service.syncs(prefix),
      });
      const [post] = await job.post();
      expect(post).toMatchObject({ conclusion: 'success' });
    } finally {
      await job.end();
    }
  }

  async function restart(): Promise<void> {
    const trouble = { from: performance.now(), to: Number.POSITIVE_INFINITY };
    troubles.push(trouble);
    await service.restart();
    trouble.to = performance.now();
  }

  async function moveRemote(): Promise<void> {
    const elsewhere = `${remote.path}.away`;
    await (away ? rename(elsewhere, remote.path) : rename(remote.path, elsewhere));
    away = !away;
  }

  /** Acts at once, or before the given request. */
  const doAt = async (atRequest: number | undefined, act: () => Promise<void>): Promise<void> => {
    if (atRequest === undefined) await act();
    else network.interfere({ at: atRequest, act });
  };

  return {
    async sync(jobs, branch, waitSeconds) {
      await Promise.all(Array.from({ length: jobs }, () => play(branch, waitSeconds)));
    },
    stopped: (how, atRequest, branch) =>
      play(branch, 600, async (step, origin) => {
        const reached = Promise.withResolvers<void>();
        let came = 0;
        network.watch(({ headers }) => {
          if (headers.referer === origin) came += 1;
          if (came === atRequest) reached.resolve();
          return undefined;
        });
        await Promise.race([reached.promise, step.finished]);
        network.watch(undefined);
        return how === 'kill' ? step.kill() : step.cancel();
      }),
    commit: (branch, atRequest) =>
      doAt(atRequest, async () => {
        if (!away) commitTo(branch);
      }),
    restart: (atRequest) => doAt(atRequest, restart),
    moveRemote,
    network: (faults) => network.fail(faults),
    async end() {
      // A step may be killed during the restart that its request started; the next world must not be affected by it.
      await service.ready();
      const running = async () => (await service.syncs(prefix)).filter(({ finished_at }) => finished_at === null);
      await expect.poll(running, { timeout: 90_000, interval: 100 }).toEqual([]);
      const syncs = await service.syncs(prefix);
      for (const branch of branches.map(within)) {
        const its = syncs.filter((sync) => sync.branch === branch);
        // A request during a queued sync joins it, and a repeated key returns the same sync.
        expect(its.length, `syncs of ${branch}`).toBeLessThanOrEqual(asked.get(branch) ?? 0);
        for (const [index, sync] of its.entries()) {
          const before = its[index - 1];
          const begun = Number(before?.started_at ?? before?.finished_at ?? 0);
          expect(Number(sync.created_at), `${sync.id}, while another was queued`).toBeGreaterThanOrEqual(begun);
        }
        const last = its.findLast(({ status }) => status === 'succeeded');
        if (last?.head != null) expect(await service.isMirrored(last.head)).toBe(true);
      }
    },
    async close() {
      if (away) await moveRemote();
      await proxy.close();
    },
  };
}
