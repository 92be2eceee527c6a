import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createRepository, type Repository } from '../test/support/git-repository.ts';
import { atMost, type Benchmark, figure, inTurns, ratioFigure, rounds } from './benchmark.ts';
import { run } from './process.ts';
import { addWorkspaces, newPlace } from './service/seed.ts';
import { startService } from './service/service-process.ts';
import { askForSyncs, endedSync } from './service/sync.ts';
import { medianOf } from './statistics.ts';

const full = { rounds: 15, objects: 50_000 };
const small = { rounds: 1, objects: 2_000 };

/** What the service does with the mirror after a sync is not to slow down what is measured next. */
const restMs = 300;

/** A commit that changes one file makes so many objects: itself, the file, and the two folders around it. */
const objectsOfCommit = 4;
const commitsAtOnce = 1_000;
const fileBytes = 2_000;

/** A repository with exactly so many objects, packed as that of a server is. */
function generateRepository(folder: string, objects: number): Repository {
  const repository = createRepository(folder);
  const commits = Array.from({ length: objects / objectsOfCommit }, (_, number) => number);
  for (let first = 0; first < commits.length; first += commitsAtOnce) {
    const numbers = commits.slice(first, first + commitsAtOnce);
    // Bytes that no compression makes smaller, as those of assets are.
    const files = (number: number) => ({ [`Content/asset-${number % 200}.bin`]: randomBytes(fileBytes) });
    repository.commit(...numbers.map((number) => ({ branch: 'main', files: files(number) })));
  }
  repository.git('repack', '-a', '-d', '--quiet');
  const packed = Number(/^in-pack: (\d+)$/m.exec(repository.git('count-objects', '-v'))?.[1]);
  if (packed !== objects) throw new Error(`The repository has ${packed} objects.`);
  return repository;
}

/** How long `git fetch` takes of a branch into a repository that has nothing yet; to make that does not count. */
async function plainFetch(folder: string, remote: string, signal: AbortSignal): Promise<number> {
  const repository = await mkdtemp(join(folder, 'plain-'));
  const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull };
  await run('git', ['init', '--quiet', '--bare', repository], { env, signal });
  const fetch = ['-C', repository, 'fetch', '--quiet', remote, '+refs/heads/main:refs/heads/main'];
  const { ms } = await run('git', fetch, { env, signal });
  await rm(repository, { recursive: true });
  return ms;
}

export const syncs: Benchmark = {
  name: 'syncs',
  what: 'A sync of a generated repository into a mirror that has nothing yet, beside a plain git fetch of the same.',
  async measure(bench) {
    const { signal } = bench;
    const { rounds: number, objects } = bench.quick ? small : full;
    bench.progress(`a repository of ${objects.toLocaleString('en-US')} objects`);
    const remote = `file://${generateRepository(bench.folder, objects).path}`;
    const service = await startService(bench, await newPlace(bench));

    const [plainMs, runMs, allMs]: [number[], number[], number[]] = [[], [], []];
    async function sync(workspace: string) {
      await addWorkspaces(service, [workspace], { remote });
      const askedAt = Date.now();
      const { locations } = await askForSyncs(service, workspace, 1);
      const ended = await endedSync(service, locations[0] ?? '', signal);
      if (ended.received_objects !== objects) throw new Error(`It received ${ended.received_objects} objects.`);
      const finishedAt = Date.parse(ended.finished_at ?? '');
      // As the service tells, from when a worker took it; and from the request, with the question what there is to fetch.
      return { run: finishedAt - Date.parse(ended.started_at ?? ''), all: finishedAt - askedAt };
    }

    // The first of each finds nothing in the caches of the system.
    await plainFetch(bench.folder, remote, signal);
    await sync('warm-up');
    const measures = [
      async () => void plainMs.push(await plainFetch(bench.folder, remote, signal)),
      async (round: number) => {
        const { run, all } = await sync(`round-${round}`);
        runMs.push(run);
        allMs.push(all);
      },
    ];
    await inTurns(bench, number, measures, async (measure, round) => {
      await sleep(restMs, undefined, { signal });
      await measure(round);
    });

    const what = `${objects.toLocaleString('en-US')} objects`;
    return [
      ratioFigure(`${what}: a sync over a plain git fetch`, runMs, plainMs, {
        limit: atMost(1.1, 'a sync is a fetch, and little more'),
        details: [rounds('ms', runMs, 'sync'), rounds('ms', plainMs, 'git fetch')],
      }),
      ratioFigure(`${what}: a sync, from its request to its end, over a plain git fetch`, allMs, plainMs, {
        details: [rounds('ms', allMs, 'with the estimate before it')],
      }),
      figure(`${what}: synced`, '/s', (objects / medianOf(runMs)) * 1_000, { shown: 'in docs' }),
    ];
  },
};
