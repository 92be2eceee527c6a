import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, type Figure, figure, inTurns } from './benchmark.ts';
import { lockBody } from './service/load.ts';
import { type Asked, openClient } from './service/request.ts';
import { onEachDatabase } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

const full = [
  { rounds: 5, waiters: 40, holdMs: 50, wish: lockOf },
  { rounds: 1, waiters: 1_000, holdMs: 10, wish: lockOf },
  { rounds: 1, waiters: 400, holdMs: 10, wish: leaseWith },
];
const small = [lockOf, leaseWith].map((wish) => ({ rounds: 1, waiters: 5, holdMs: 10, wish }));

/** The requests that take and release something. */
type Wish = (path: string) => Readonly<Record<'take' | 'release', Asked>>;

function lockOf(path: string): ReturnType<Wish> {
  const headers = { prefer: 'wait=30', 'idempotency-key': crypto.randomUUID() };
  const take = { method: 'POST', path: '/locks', headers, body: lockBody(path), statuses: [201, 409] } as const;
  return { take, release: { method: 'DELETE', path: `/locks/${path}`, statuses: [204] } };
}

/** A lease of the path and of another one, which nobody else wants. */
function leaseWith(path: string): ReturnType<Wish> {
  const id = crypto.randomUUID();
  const address = { path: `/leases/${id}` };
  const body = JSON.stringify({ paths: [path, `of-${id}`], type: 'exclusive', ttl: '1h' });
  const take = { ...address, method: 'PUT', headers: { prefer: 'wait=30' }, body, statuses: [201, 202] } as const;
  return { take, release: { ...address, method: 'DELETE', statuses: [200] } };
}

/** Each waiter gets the path once, holds it for a moment, and releases it. */
async function handOvers(
  { signal }: Bench,
  service: RunningService,
  path: string,
  { waiters, holdMs, wish }: (typeof full)[number],
) {
  const handOverMs: number[] = [];
  let releasedAt: number | undefined;

  async function waiter(): Promise<void> {
    // Each waiter has its own connections, like a job.
    const { ask, close } = openClient(service, signal);
    const { take, release } = wish(path);
    while ((await ask(take)).status !== 201);
    if (releasedAt !== undefined) handOverMs.push(performance.now() - releasedAt);
    await sleep(holdMs);
    await ask(release);
    releasedAt = performance.now();
    close();
  }

  await Promise.all(Array.from({ length: waiters }, waiter));
  return handOverMs;
}

export const handOver: Benchmark = {
  name: 'hand-over',
  what: 'Time that a path stays free between two jobs that wait for it with Prefer.',
  async measure(bench) {
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      const service = await startService(bench, { place: await createPlace() });
      const figures: Figure[] = [];
      for (const plan of bench.quick ? small : full) {
        bench.progress(`${name}, ${plan.waiters} jobs`);
        const all: number[] = [];
        await inTurns(bench, plan.rounds, [service], async (service, round) => {
          all.push(...(await handOvers(bench, service, `of-${plan.waiters}-${round}`, plan)));
        });
        const [who, it] = plan.wish === lockOf ? ['jobs', 'the lock'] : ['leases of two paths', 'both'];
        const what = `median time from a release until the next of ${plan.waiters} waiting ${who} has ${it}`;
        const shown = plan.waiters === 1_000 ? true : undefined;
        figures.push(figure(`${name}: ${what}`, 'ms', medianOf(all), { limit: atMost(100, 'design §6'), shown }));
      }
      return figures;
    });
  },
};
