import { type Benchmark, distribution, figure, medianFigure } from './benchmark.ts';
import { createSeries, heldPath, lockBody, lockPath, measureSeries } from './service/load.ts';
import { openClient } from './service/request.ts';
import { onEachDatabase } from './service/seed.ts';
import { startService } from './service/service-process.ts';
import { clientCounts, clientsText } from './service.ts';

/** What jobs that wait cost the service: bench/simulate is made of it. */

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
