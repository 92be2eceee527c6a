import { join } from 'node:path';
import { type Benchmark, distribution, type Figure, medianFigure } from './benchmark.ts';
import { heldPath, startLoadGenerator } from './service/load.ts';
import { ask } from './service/request.ts';
import { onEachDatabase } from './service/seed.ts';
import { startService } from './service/service-process.ts';

/** What jobs that wait cost the service: bench/simulate is made of it. */

interface Plan {
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly ms: number;
}

const full: Plan = { rounds: 3, warmUpMs: 500, ms: 2_000 };
const small: Plan = { rounds: 1, warmUpMs: 50, ms: 200 };

const clientCounts = [1, 32, 256];

/** As the action asks for them. */
export const pageSize = 1_000;
const pages = 20;

/** All of the clients have one token, and ask for as much as there is. */
export const pollsName = (database: string, clients: number): string =>
  `${database}, ${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off: refusals of a path that somebody holds`;
export const pageName = (database: string): string => `${database}, rate limit off: a page of ${pageSize} locks`;
export const pageBytesName = (database: string): string =>
  `${database}, rate limit off: a page of ${pageSize} locks, on the wire`;

export const polls: Benchmark = {
  name: 'polls',
  what: 'What jobs that wait for a path cost the service, and what a page of a list does.',
  async measure(bench) {
    const { rounds, warmUpMs, ms } = bench.quick ? small : full;
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    return onEachDatabase(bench, async ({ name, createUrl }) => {
      const folder = join(bench.folder, name);
      const service = await startService({ databaseUrl: await createUrl(), rateLimit: 'off', folder });
      bench.atEnd(service.stop);
      const { token, baseUrl, workspace } = service;
      const asked = { origin: new URL(baseUrl), token, path: `/v1/workspaces/${workspace}/locks` };
      const held = JSON.stringify({ path: heldPath, type: 'exclusive', ttl: '1d' });
      await ask({ ...asked, method: 'POST', body: held, statuses: [201] });
      const load = { targets: [service], token };

      const figures: Figure[] = [];
      for (const clients of clientCounts) {
        bench.progress(`${name}: refusals, ${clients} at a time`);
        const rates: number[] = [];
        const latenciesMs: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const end = { kind: 'after', ms } as const;
          const plan = {
            ...load,
            ask: 'for a held lock',
            name: `polls-${clients}-${round}`,
            clients,
            warmUpMs,
            end,
          } as const;
          const { rate, latenciesMs: its } = await generator.ask(plan);
          rates.push(rate);
          for (const latency of its) latenciesMs.push(latency);
        }
        const details = [distribution(latenciesMs, [50, 99])];
        figures.push(medianFigure(pollsName(name, clients), '/s', rates, { details }));
      }

      bench.progress(`${name}: a page of a list`);
      const end = { kind: 'requests', number: pageSize } as const;
      await generator.ask({ ...load, ask: 'for locks', name: 'listed', clients: 32, warmUpMs: 0, end });
      const pagesMs: number[] = [];
      let bytes = 0;
      for (let number = 0; number < pages; number += 1) {
        const askedAt = performance.now();
        const { body } = await ask({ ...asked, path: `${asked.path}?limit=${pageSize}`, statuses: [200] });
        pagesMs.push(performance.now() - askedAt);
        bytes = Buffer.byteLength(body);
      }
      return [
        ...figures,
        medianFigure(pageName(name), 'ms', pagesMs),
        { name: pageBytesName(name), value: bytes / 1_000, unit: 'KB' },
      ];
    });
  },
};
