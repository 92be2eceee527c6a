import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Benchmark, type Detail } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { endedSync } from './service/ended-sync.ts';
import { countObjects, generateRepository } from './service/generated-repository.ts';
import { startLoadGenerator } from './service/load-generator.ts';
import { plainFetch } from './service/plain-fetch.ts';
import { startService } from './service/services.ts';
import { addWorkspaces } from './service/workspaces.ts';
import { medianOf, medianRatio } from './statistics.ts';

interface Plan {
  readonly rounds: number;
  readonly objects: number;
}

const full: Plan = { rounds: 15, objects: 50_000 };
const small: Plan = { rounds: 1, objects: 2_000 };

/** What the service does with the mirror after a sync is not to slow down what is measured next. */
const restMs = 300;

interface Sync {
  /** As the service tells: from the moment when a worker took it. */
  readonly runMs: number;
  /** From the request, with the question what there is to fetch. */
  readonly allMs: number;
}

const times = (name: string, values: readonly number[]): Detail => ({ kind: 'rounds', name, unit: 'ms', values });

export const syncs: Benchmark = {
  name: 'syncs',
  what: 'A sync of a generated repository into a mirror that has nothing yet, beside a plain git fetch of the same.',
  async measure(bench) {
    const { signal } = bench;
    const { rounds, objects } = bench.quick ? small : full;
    bench.progress(`a repository of ${objects.toLocaleString('en-US')} objects`);
    const repository = generateRepository(bench.folder, objects);
    if (countObjects(repository) !== objects)
      throw new Error(`The repository has ${countObjects(repository)} objects.`);
    const remote = `file://${repository.path}`;
    const service = await startService({ kind: 'as installed', folder: join(bench.folder, 'service') });
    bench.atEnd(service.stop);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);

    async function sync(workspace: string): Promise<Sync> {
      await addWorkspaces(service.data, [workspace], remote);
      const { baseUrl, token } = service;
      const askedAt = Date.now();
      const [location = ''] = (
        await generator.run({
          targets: [{ baseUrl, workspace }],
          token,
          ask: 'for syncs',
          name: workspace,
          clients: 1,
          warmUpMs: 0,
          end: { kind: 'requests', number: 1 },
        })
      ).resources;
      const ended = await endedSync(service, location, signal);
      if (ended.received_objects !== objects) throw new Error(`It received ${ended.received_objects} objects.`);
      const finishedAt = Date.parse(ended.finished_at ?? '');
      return { runMs: finishedAt - Date.parse(ended.started_at ?? ''), allMs: finishedAt - askedAt };
    }

    async function fetch(): Promise<number> {
      const folder = await mkdtemp(join(bench.folder, 'plain-'));
      const { ms } = await plainFetch(folder, remote, signal);
      await rm(folder, { recursive: true });
      return ms;
    }

    const plain: number[] = [];
    const synced: Sync[] = [];
    // The first of each finds nothing in the caches of the system.
    await fetch();
    await sync('warm-up');
    for (let round = 1; round <= rounds; round += 1) {
      bench.progress(`round ${round} of ${rounds}`);
      const measures = [
        async () => void plain.push(await fetch()),
        async () => void synced.push(await sync(`round-${round}`)),
      ];
      for (const measure of round % 2 === 0 ? measures : measures.toReversed()) {
        await sleep(restMs, undefined, { signal });
        await measure();
      }
    }

    const runMs = synced.map((each) => each.runMs);
    const allMs = synced.map((each) => each.allMs);
    const what = `${objects.toLocaleString('en-US')} objects`;
    return {
      figures: [
        {
          name: `${what}: a sync over a plain git fetch`,
          value: medianRatio(runMs, plain),
          unit: '×',
          limit: bench.quick ? undefined : atMost(budgets.syncRatio, 'a sync is a fetch, and little more'),
          details: [times('sync', runMs), times('git fetch', plain)],
        },
        {
          name: `${what}: a sync, from its request to its end, over a plain git fetch`,
          value: medianRatio(allMs, plain),
          unit: '×',
          details: [times('with the estimate before it', allMs)],
        },
        { name: `${what}: synced`, value: (objects / medianOf(runMs).median) * 1_000, unit: '/s', inReadme: true },
      ],
    };
  },
};
