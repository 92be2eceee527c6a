import { onTestFinished, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { measured } from '../support/measured.ts';
import { endProcesses } from '../support/runner/left-processes.ts';
import { runs } from '../support/runs.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { type Desk, holdingJob, holdingWorker, measuredTimes, type Ttl, vanish, waitingJob } from './next-job.ts';
import { startTcpBalancer } from './tcp-balancer.ts';

/** How long the next job waits after the one that holds the lock has died, was cut off, or stands still. */

const second = 1_000;
const times = runs(1, 20);
const ttls: readonly Ttl[] =
  runs(1, 2) === 1
    ? [{ text: '10s', ms: 10 * second }]
    : [
        { text: '30s', ms: 30 * second },
        { text: '5m', ms: 300 * second },
      ];
/** What a machine with other work adds. */
const extra = runs({ median: 20, worst: 20 }, { median: 3, worst: 5 });
const timeoutMs = runs(180, 1_200) * second;

/** A holder, which dies when it is told to. */
interface Holder {
  readonly die: () => unknown;
  readonly remove: () => Promise<void>;
}

interface Death {
  readonly name: string;
  /** Its runner lives, and runs the post-step, which releases the lock. Otherwise the lock expires. */
  readonly isReleased?: true;
  readonly start: (desk: Desk, path: string, ttl: Ttl) => Promise<Holder>;
}

type Processes = Awaited<ReturnType<typeof holdingWorker>>;

/** A death that is a signal to processes of the job. */
const signalled = (name: string, signal: (processes: Processes) => unknown): Death => ({
  name,
  async start(desk, path, ttl) {
    const processes = await holdingWorker(desk, path, ttl);
    return { die: () => signal(processes), remove: () => vanish(processes.job) };
  },
});

const deaths: readonly Death[] = [
  {
    name: 'SIGKILL of the job',
    isReleased: true,
    async start(desk, path, ttl) {
      const job = await holdingJob(desk, path, ttl);
      const work = await job.command({ command: ['sleep', '3600'], id: 'work' });
      return {
        async die() {
          await work.kill();
          await job.post();
        },
        remove: () => vanish(job),
      };
    },
  },
  signalled('SIGKILL of its runner', ({ worker }) => process.kill(worker.pid, 'SIGKILL')),
  signalled('SIGKILL of its renewing process', ({ renewers }) => endProcesses(renewers())),
  {
    name: 'A cut of its network',
    async start(desk, path, ttl) {
      let isCut = false;
      const port = Number(new URL(desk.baseUrl).port);
      const network = await startTcpBalancer({ targets: () => (isCut ? [] : [port]) });
      const { job } = await holdingWorker({ ...desk, baseUrl: `http://127.0.0.1:${network.port}/v1` }, path, ttl);
      return {
        die() {
          isCut = true;
          for (const socket of network.sockets) socket.destroy();
        },
        async remove() {
          await vanish(job);
          await network.close();
        },
      };
    },
  },
  signalled('SIGSTOP of all its processes', ({ worker, renewers }) => {
    for (const pid of [worker.pid, ...renewers()]) process.kill(pid, 'SIGSTOP');
  }),
];

/** Runs the works, only a few at a time: each starts processes. */
async function startAll<T>(works: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
  const results: T[] = [];
  const coming = works.entries();
  const atOnce = 4;
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [index, work] of coming) results[index] = await work();
    }),
  );
  return results;
}

test('the next job has the lock at the latest when the ttl of a dead one ends, and never before', {
  timeout: timeoutMs,
}, async (context) => {
  if (process.platform !== 'linux') leaveOut(context, 'Only Linux lists processes as files.');
  const service = await startServiceProcess({ args: ['--rate-limit', '0', '--log-level', 'error'] });
  onTestFinished(async () => void (await service.stop()));
  const kinds = deaths.flatMap((death) => ttls.map((ttl) => ({ death, ttl, ms: [] as number[] })));

  const started = await startAll(
    kinds.flatMap(({ death, ttl, ms }) =>
      Array.from({ length: times }, (_, number) => async () => {
        const path = `${death.name}/${ttl.text}/${number}`;
        const holder = await death.start(service, path, ttl);
        onTestFinished(holder.remove, timeoutMs);
        const waiter = await waitingJob(service, path, ttl);
        onTestFinished(() => vanish(waiter.job), timeoutMs);
        return { ...{ holder, waiter, ttl, ms, isReleased: death.isReleased }, phase: (number + 0.5) / times };
      }),
    ),
  );
  // The holders die at moments that are spread over the time between two renewals. Releases do not depend on it, but
  // each starts a process.
  const longestMs = Math.max(...ttls.map(({ ms }) => ms));
  await Promise.all(
    started.map(async ({ holder, waiter, isReleased, ttl, ms, phase }) => {
      await new Promise((resolve) => setTimeout(resolve, (phase * (isReleased ? longestMs : ttl.ms)) / 3));
      const diedAt = performance.now();
      await holder.die();
      ms.push((await waiter.granted) - diedAt);
    }),
  );

  for (const { death, ttl, ms } of kinds) {
    const name = `${death.name}, ttl ${ttl.text}`;
    const most = death.isReleased ? 0 : ttl.ms / second;
    measuredTimes(name, ms, { median: most + extra.median, worst: most + extra.worst });
    // A lock is renewed after at most a third of its ttl, or a pause later.
    const least = death.isReleased ? 0 : 0.6 * most;
    measured(`${name}: earliest, seconds`, Math.min(...ms) / second, { atLeast: least });
  }
});
