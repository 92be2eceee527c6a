import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Bench, type Benchmark, distribution, figure, inTurns, medianFigure } from './benchmark.ts';
import { createSeries, heldPath, lockBody, lockPath, measureSeries } from './service/load.ts';
import { openClient } from './service/request.ts';
import { onEachDatabase } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { clientCounts, clientsText } from './service.ts';
import { medianOf } from './statistics.ts';

/** What jobs that wait for a path cost the service, which bench/simulate is made of, and how soon they have it. */

const full = { rounds: 3, warmUpMs: 500, ms: 2_000 };
const small = { rounds: 1, warmUpMs: 50, ms: 200 };

/** As the action asks for them. */
export const pageSize = 1_000;
const pages = 20;

export const pollsName = (database: string, clients: number): string =>
  `${database}, ${clientsText(clients)}: refusals of a path that somebody holds`;
export const pageName = (database: string): string => `${database}, rate limit off: a page of ${pageSize} locks`;
export const pageBytesName = (database: string): string => `${pageName(database)}, on the wire`;

export const polls: Benchmark = {
  name: 'polls',
  what: 'What jobs that wait for a path cost the service, and what a page of a list does.',
  async measure(bench) {
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      const service = await startService(bench, { place: await createPlace(), rateLimit: 'off' });
      const { ask, close } = openClient(service);
      bench.atEnd(close);
      const lock = (path: string) => ask({ method: 'POST', path: '/locks', body: lockBody(path), statuses: [201] });
      await lock(heldPath);

      bench.progress(`${name}: refusals`);
      const refusals = clientCounts.map((clients) =>
        createSeries({ targets: () => [service], ask: 'for a held lock', clients }),
      );
      await measureSeries(bench, bench.quick ? small : full, refusals);

      bench.progress(`${name}: a page of a list`);
      for (let number = 0; number < pageSize; number += 1) await lock(lockPath('listed', number));
      const pagesMs: number[] = [];
      let bytes = 0;
      for (let number = 0; number < pages; number += 1) {
        const askedAt = performance.now();
        const { body } = await ask({ path: `/locks?limit=${pageSize}`, statuses: [200] });
        pagesMs.push(performance.now() - askedAt);
        bytes = Buffer.byteLength(body);
      }
      return [
        ...refusals.map(({ clients, rates, latenciesMs }) =>
          medianFigure(pollsName(name, clients), '/s', rates, { details: [distribution(latenciesMs, [50, 99])] }),
        ),
        medianFigure(pageName(name), 'ms', pagesMs),
        figure(pageBytesName(name), 'KB', bytes / 1_000),
      ];
    });
  },
};

const fullHandOver = { rounds: 5, waiters: 40, holdMs: 50 };
const smallHandOver = { rounds: 1, waiters: 5, holdMs: 10 };

/** Each gets the path once, holds it for a moment, and gives it to the next. */
async function handOvers(
  { signal }: Bench,
  service: RunningService,
  path: string,
  { waiters, holdMs }: typeof fullHandOver,
) {
  const handOverMs: number[] = [];
  let releasedAt: number | undefined;

  async function waiter(): Promise<void> {
    // Connections of its own, as each job has them.
    const { ask, close } = openClient(service, signal);
    const take = { method: 'POST', path: '/locks', body: lockBody(path), statuses: [201, 409] } as const;
    while ((await ask(take)).status === 409) {
      await ask({ path: `/locks?path=${path}`, headers: { prefer: 'wait=30' }, statuses: [200] });
    }
    if (releasedAt !== undefined) handOverMs.push(performance.now() - releasedAt);
    await sleep(holdMs);
    await ask({ method: 'DELETE', path: `/locks/${path}`, statuses: [204] });
    releasedAt = performance.now();
    close();
  }

  await Promise.all(Array.from({ length: waiters }, waiter));
  return handOverMs;
}

export const handOver: Benchmark = {
  name: 'hand-over',
  what: 'How long a path lies free between two jobs that want it, where they wait with Prefer.',
  async measure(bench) {
    const plan = bench.quick ? smallHandOver : fullHandOver;
    return onEachDatabase(bench, async ({ name, createPlace }) => {
      bench.progress(name);
      const service = await startService(bench, { place: await createPlace() });
      const all: number[] = [];
      await inTurns(bench, plan.rounds, [service], async (service, round) => {
        all.push(...(await handOvers(bench, service, `handed-over-${round}`, plan)));
      });
      const what = `from the answer to a release until the next of ${plan.waiters} who wait has the lock, median`;
      return [
        figure(`${name}: ${what}`, 'ms', medianOf(all), {
          limit: atMost(300, 'jobs that ask again now and then get it seconds later'),
          details: [distribution(all)],
        }),
      ];
    });
  },
};
