import { randomBytes } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sync } from '../src/service/contract/schemas.ts';
import { createRepository, manyCommits, pathWithGit, type Repository } from '../test/support/git-repository.ts';
import { atMost, type Bench, type Benchmark, figure, inTurns, ratioFigure } from './benchmark.ts';
import { openClient } from './service/request.ts';
import { addWorkspaces } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { medianOf } from './statistics.ts';

/** The service reports the start and end times of a sync, so more frequent requests would only slow it down. */
const askEveryMs = 100;

/**
 * Sends several requests for a sync at the same time, and waits until all syncs have succeeded. Returns the distinct
 * syncs, and the latency of each response.
 */
export async function syncTogether(service: RunningService, workspace: string, triggers: number, { signal }: Bench) {
  const { ask, close } = openClient({ ...service, workspace }, signal);
  const latenciesMs: number[] = [];
  async function trigger(): Promise<string> {
    const askedAt = performance.now();
    const { body } = await ask({ method: 'POST', path: '/sync', body: '{"branch":"main"}', statuses: [202] });
    latenciesMs.push(performance.now() - askedAt);
    // The response is defined in src/service/api/syncs.ts.
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
  'design §4, "a handful": three of a branch in five seconds, and one for triggers after the start of the third';

/** Records git commands, such as `fetch`. Returns the PATH for that, and a function that takes recorded commands. */
async function countGit(folder: string) {
  const file = join(folder, 'commands');
  async function takeCommands(): Promise<readonly string[]> {
    const text = await readFile(file, 'utf8').catch(() => '');
    await rm(file, { force: true });
    return text.split('\n').filter((line) => line !== '');
  }
  return { path: await pathWithGit(folder, `echo "$1" >>'${file}'`), takeCommands };
}

/** A small repository is the hard case: the sooner a sync ends, the more triggers come after it. */
export const storm: Benchmark = {
  name: 'storm',
  what: '1,000 simultaneous triggers for a sync of one branch, and the number of syncs and fetches.',
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
      figure(`${what}: most syncs in a round`, '', Math.max(...syncs), {
        limit: atMost(4, handful),
      }),
      figure(`${what}: most calls of git fetch in a round, with estimates`, '', Math.max(...fetches)),
      figure(`${what}: longest response time`, 'ms', Math.max(...latenciesMs)),
    ];
  },
};

const full = { rounds: 15, objects: 50_000 };
const small = { rounds: 1, objects: 2_000 };

/** Pause after a sync, so that what it leaves behind does not slow down the next measurement. */
const restMs = 300;

/** Objects of a commit that changes one file: the commit, the file, and its two folders. */
const objectsOfCommit = 4;
const fileBytes = 2_000;

/** Generates a repository with exactly this number of objects, packed like one on a server. */
function generateRepository(folder: string, objects: number): Repository {
  const repository = createRepository(folder);
  const commits = Array.from({ length: objects / objectsOfCommit }, (_, number) => ({
    branch: 'main',
    // Incompressible, like the bytes of assets.
    files: { [`Content/asset-${number % 200}.bin`]: randomBytes(fileBytes) },
  }));
  repository.commit(...commits);
  repository.git('repack', '-a', '-d', '--quiet');
  const packed = Number(/^in-pack: (\d+)$/m.exec(repository.git('count-objects', '-v'))?.[1]);
  if (packed !== objects) throw new Error(`The repository has ${packed} objects.`);
  return repository;
}

/** Measures `git fetch` of a branch into an empty repository. Creating that repository does not count. */
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
  what: 'A sync of a generated repository into an empty mirror, compared with a plain git fetch.',
  async measure(bench) {
    const { rounds: number, objects } = bench.quick ? small : full;
    bench.progress(`generating a repository of ${objects.toLocaleString('en-US')} objects`);
    const remote = `file://${generateRepository(bench.folder, objects).path}`;
    const service = await startService(bench);

    const [plainMs, runMs, allMs]: [number[], number[], number[]] = [[], [], []];
    async function sync(workspace: string) {
      await addWorkspaces(service, [workspace], { remote });
      const askedAt = Date.now();
      const [ended] = (await syncTogether(service, workspace, 1, bench)).syncs;
      if (ended?.received_objects !== objects) throw new Error(`It received ${ended?.received_objects} objects.`);
      const finishedAt = Date.parse(ended.finished_at ?? '');
      // `run` starts when a worker takes the sync; `all` starts with the request, and includes estimating its size.
      return { run: finishedAt - Date.parse(ended.started_at ?? ''), all: finishedAt - askedAt };
    }

    // The first fetch and the first sync find cold system caches.
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
      ratioFigure(`${what}: a sync relative to a plain git fetch`, runMs, plainMs, {
        limit: atMost(1.1, 'a sync adds little to a fetch'),
        shown: true,
      }),
      ratioFigure(`${what}: a sync, from request to end, relative to a plain git fetch`, allMs, plainMs),
      figure(`${what}: synced`, '/s', (objects / medianOf(runMs)) * 1_000),
    ];
  },
};
