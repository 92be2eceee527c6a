import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../src/interface/resources.ts';
import { createRepository, manyCommits, pathWithGit, type Repository } from '../test/support/git-repository.ts';
import { atMost, type Bench, type Benchmark, figure, inTurns, ratioFigure } from './benchmark.ts';
import { openClient } from './service/request.ts';
import { addWorkspaces } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** When a sync began and ended is told by the service: to be asked more often would only slow it down. */
const askEveryMs = 100;

/**
 * Asks for a sync so often at the same time, and waits until all have succeeded; gives the different ones that it was
 * given, and how long each answer took.
 */
export async function syncTogether(service: RunningService, workspace: string, triggers: number, { signal }: Bench) {
  const { ask, close } = openClient({ ...service, workspace }, signal);
  const latenciesMs: number[] = [];
  async function trigger(): Promise<string> {
    const askedAt = performance.now();
    const { body } = await ask({ method: 'POST', path: '/sync', body: '{"branch":"main"}', statuses: [202] });
    latenciesMs.push(performance.now() - askedAt);
    // This is how the service answers (src/service/api/syncs.ts).
    return (JSON.parse(body) as Sync).sync_id;
  }
  async function ended(id: string): Promise<Sync> {
    for (;;) {
      const sync = JSON.parse((await ask({ path: `/syncs/${id}`, statuses: [200] })).body) as Sync;
      if (sync.status === 'succeeded') return sync;
      if (sync.status === 'failed') throw new Error(`A sync failed: ${sync.error}`);
      await sleep(askEveryMs, undefined, { signal });
    }
  }
  const ids = new Set(await Promise.all(Array.from({ length: triggers }, trigger)));
  const syncs = await Promise.all([...ids].map(ended));
  close();
  return { syncs, latenciesMs };
}

const fullStorm = { rounds: 5, triggers: 1_000 };
const smallStorm = { rounds: 1, triggers: 100 };

const handful =
  'design §4, "a handful": three of a branch in five seconds, and one for those who came after the third had begun';

/** Counts the starts of git: gives the PATH for that, and what gives the commands since the last call, such as `fetch`. */
async function countGit(folder: string) {
  const file = join(folder, 'commands');
  async function takeCommands(): Promise<readonly string[]> {
    const text = await readFile(file, 'utf8').catch(() => '');
    await rm(file, { force: true });
    return text.split('\n').filter((line) => line !== '');
  }
  return { path: await pathWithGit(folder, `echo "$1" >>'${file}'`), takeCommands };
}

/** A small repository is the hard case: the sooner a sync ends, the more of the storm comes after it. */
export const storm: Benchmark = {
  name: 'storm',
  what: 'A thousand triggers for a sync of the same branch at the same time, and how often git fetches for them.',
  async measure(bench) {
    const { rounds: number, triggers } = bench.quick ? smallStorm : fullStorm;
    const repository = createRepository(bench.folder);
    repository.commit(...manyCommits(100));
    const { path, takeCommands } = await countGit(bench.folder);
    const service = await startService(bench, { path });
    const workspaces = Array.from({ length: number }, (_, round) => `round-${round}`);
    await addWorkspaces(service, workspaces, { remote: `file://${repository.path}` });
    await takeCommands();

    const all = [];
    for (const workspace of workspaces) {
      bench.progress(`${workspace} of ${number}`);
      const round = await syncTogether(service, workspace, triggers, bench);
      all.push({ ...round, commands: await takeCommands() });
    }
    const syncs = all.map((round) => round.syncs.length);
    const fetches = all.map(({ commands }) => commands.filter((command) => command === 'fetch').length);
    const latenciesMs = all.flatMap((round) => round.latenciesMs);

    const what = `${triggers.toLocaleString('en-US')} triggers at once`;
    return [
      figure(`${what}: syncs, at most in a round`, '', Math.max(...syncs), {
        limit: atMost(4, handful),
      }),
      figure(`${what}: starts of git fetch, with those that only estimate`, '', Math.max(...fetches)),
      figure(`${what}: until all are answered`, 'ms', Math.max(...latenciesMs)),
    ];
  },
};

const full = { rounds: 15, objects: 50_000 };
const small = { rounds: 1, objects: 2_000 };

/** What the service does with the mirror after a sync is not to slow down what is measured next. */
const restMs = 300;

/** A commit that changes one file makes so many objects: itself, the file, and the two folders around it. */
const objectsOfCommit = 4;
const fileBytes = 2_000;

/** A repository with exactly so many objects, packed as that of a server is. */
function generateRepository(folder: string, objects: number): Repository {
  const repository = createRepository(folder);
  const commits = Array.from({ length: objects / objectsOfCommit }, (_, number) => ({
    branch: 'main',
    // Bytes that no compression makes smaller, as those of assets are.
    files: { [`Content/asset-${number % 200}.bin`]: randomBytes(fileBytes) },
  }));
  repository.commit(...commits);
  repository.git('repack', '-a', '-d', '--quiet');
  const packed = Number(/^in-pack: (\d+)$/m.exec(repository.git('count-objects', '-v'))?.[1]);
  if (packed !== objects) throw new Error(`The repository has ${packed} objects.`);
  return repository;
}

/** How long `git fetch` takes of a branch into a repository that has nothing yet; to make that does not count. */
async function plainFetch(folder: string, remote: string): Promise<number> {
  const { git, path } = createRepository(folder, 'plain.git');
  const beganAt = performance.now();
  git('fetch', '--quiet', remote, '+refs/heads/main:refs/heads/main');
  const ms = performance.now() - beganAt;
  await rm(path, { recursive: true });
  return ms;
}

export const syncs: Benchmark = {
  name: 'syncs',
  what: 'A sync of a generated repository into a mirror that has nothing yet, beside a plain git fetch of the same.',
  async measure(bench) {
    const { rounds: number, objects } = bench.quick ? small : full;
    bench.progress(`a repository of ${objects.toLocaleString('en-US')} objects`);
    const remote = `file://${generateRepository(bench.folder, objects).path}`;
    const service = await startService(bench);

    const [plainMs, runMs, allMs]: [number[], number[], number[]] = [[], [], []];
    async function sync(workspace: string) {
      await addWorkspaces(service, [workspace], { remote });
      const askedAt = Date.now();
      const [ended] = (await syncTogether(service, workspace, 1, bench)).syncs;
      if (ended?.received_objects !== objects) throw new Error(`It received ${ended?.received_objects} objects.`);
      const finishedAt = Date.parse(ended.finished_at ?? '');
      // As the service tells, from when a worker took it; and from the request, with the question what there is to fetch.
      return { run: finishedAt - Date.parse(ended.started_at ?? ''), all: finishedAt - askedAt };
    }

    // The first of each finds nothing in the caches of the system.
    await plainFetch(bench.folder, remote);
    await sync('warm-up');
    await inTurns(bench, number, ['plain', 'sync'], async (kind, round) => {
      await sleep(restMs, undefined, { signal: bench.signal });
      if (kind === 'plain') {
        plainMs.push(await plainFetch(bench.folder, remote));
        return;
      }
      const { run, all } = await sync(`round-${round}`);
      runMs.push(run);
      allMs.push(all);
    });

    const what = `${objects.toLocaleString('en-US')} objects`;
    return [
      ratioFigure(`${what}: a sync over a plain git fetch`, runMs, plainMs, {
        limit: atMost(1.1, 'a sync is a fetch, and little more'),
      }),
      ratioFigure(`${what}: a sync, from its request to its end, over a plain git fetch`, allMs, plainMs),
      figure(`${what}: synced`, '/s', (objects / medianOf(runMs)) * 1_000, { shown: true }),
    ];
  },
};
