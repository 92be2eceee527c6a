import { join } from 'node:path';
import type { Bench, Benchmark, Figure } from './benchmark.ts';
import { type BenchDatabase, databasesOf } from './service/databases.ts';
import { heldPath, type LoadPlan } from './service/load.ts';
import { type LoadGenerator, startLoadGenerator } from './service/load-generator.ts';
import { type RunningService, startService } from './service/services.ts';
import { medianOf, percentilesOf } from './statistics.ts';

/** What jobs that wait cost the service. bench/simulate reads it, and README.md has no need of it. */

interface Plan {
  readonly clients: readonly number[];
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly ms: number;
}

const full: Plan = { clients: [1, 32, 256], rounds: 3, warmUpMs: 500, ms: 2_000 };
const small: Plan = { clients: [1, 32, 256], rounds: 1, warmUpMs: 50, ms: 200 };

/** As the action asks for them. */
export const pageSize = 1_000;
const pages = 20;

/** All of the clients have one token, and ask for as much as there is. */
export const pollsName = (database: string, clients: number): string =>
  `${database}, ${clients === 1 ? '1 client' : `${clients} clients`}, rate limit off: refusals of a path that somebody holds`;
export const pageName = (database: string): string => `${database}, rate limit off: a page of ${pageSize} locks`;
export const pageBytesName = (database: string): string =>
  `${database}, rate limit off: a page of ${pageSize} locks, on the wire`;

async function request(service: RunningService, query: string, body?: object): Promise<string> {
  const response = await fetch(`${service.baseUrl}/workspaces/${service.workspace}/locks${query}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${service.token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`A request was answered with ${response.status}: ${text}`);
  return text;
}

async function measureOn(
  bench: Bench,
  generator: LoadGenerator,
  { name, createUrl }: BenchDatabase,
  { clients, rounds, warmUpMs, ms }: Plan,
): Promise<readonly Figure[]> {
  const databaseUrl = await createUrl();
  const service = await startService({
    kind: 'as installed',
    databaseUrl,
    rateLimit: 'off',
    folder: join(bench.folder, name),
  });
  bench.atEnd(service.stop);
  const { baseUrl, token, workspace } = service;
  const where: Pick<LoadPlan, 'targets' | 'token'> = { targets: [{ baseUrl, workspace }], token };
  await request(service, '', { path: heldPath, type: 'exclusive', ttl: '1d' });

  const figures: Figure[] = [];
  for (const number of clients) {
    bench.progress(`${name}: refusals, ${number} at a time`);
    const rates: number[] = [];
    const latencies: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const load = await generator.run({
        ...where,
        ask: 'for a held lock',
        name: `polls-${number}-${round}`,
        clients: number,
        warmUpMs,
        end: { kind: 'after', ms },
      });
      rates.push((load.latenciesMs.length / load.ms) * 1_000);
      for (const latency of load.latenciesMs) latencies.push(latency);
    }
    figures.push({
      name: pollsName(name, number),
      value: medianOf(rates).median,
      unit: '/s',
      details: [
        { kind: 'rounds', name: 'rounds', unit: '/s', values: rates },
        { kind: 'distribution', name: 'until the answer', unit: 'ms', percentiles: percentilesOf(latencies, [50, 99]) },
      ],
    });
  }

  bench.progress(`${name}: a page of a list`);
  const seeding: LoadPlan = {
    ...where,
    ask: 'for locks',
    name: 'listed',
    clients: 32,
    warmUpMs: 0,
    end: { kind: 'requests', number: pageSize },
  };
  await generator.run(seeding);
  const pagesMs: number[] = [];
  let bytes = 0;
  for (let number = 0; number < pages; number += 1) {
    const askedAt = performance.now();
    bytes = Buffer.byteLength(await request(service, `?limit=${pageSize}`));
    pagesMs.push(performance.now() - askedAt);
  }
  const rest: readonly Figure[] = [
    {
      name: pageName(name),
      value: medianOf(pagesMs).median,
      unit: 'ms',
      details: [{ kind: 'rounds', name: 'rounds', unit: 'ms', values: pagesMs }],
    },
    { name: pageBytesName(name), value: bytes / 1_000, unit: 'KB' },
  ];
  return [...figures, ...rest];
}

export const polls: Benchmark = {
  name: 'polls',
  what: 'What jobs that wait for a path cost the service, and what a page of a list does.',
  async measure(bench) {
    const { databases, leftOut } = await databasesOf(bench);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    const figures: Figure[] = [];
    for (const database of databases) {
      figures.push(...(await measureOn(bench, generator, database, bench.quick ? small : full)));
    }
    return { figures, leftOut };
  },
};
