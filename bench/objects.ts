import { createHash, randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { createRepository } from '../test/support/git-repository.ts';
import { pointerTo } from '../test/support/lfs-store.ts';
import { atLeast, atMost, type Bench, type Benchmark, figure, inTurns, ratioFigure } from './benchmark.ts';
import { memoryOf, run } from './process.ts';
import { createSeries, measureSeries, type Series } from './service/load.ts';
import { startNetwork } from './service/network.ts';
import { addWorkspaces } from './service/seed.ts';
import { type RunningService, startService } from './service/service-process.ts';
import { startUpstream } from './service/upstream.ts';
import { medianOf, percentileOf } from './statistics.ts';
import { syncTogether } from './syncs.ts';

/** Sizes like those of real assets: many small objects, and a few that make up most of the bytes. */
const full = { rounds: 3, objects: 2_000, minBytes: 1_024, maxBytes: 50 * 2 ** 20, bytes: 2 * 2 ** 30 };
const fewer: typeof full = { rounds: 9, objects: 150, minBytes: 1_024, maxBytes: 10 * 2 ** 20, bytes: 150 * 2 ** 20 };
const small: typeof full = { rounds: 1, objects: 40, minBytes: 1_024, maxBytes: 2 ** 20, bytes: 8 * 2 ** 20 };

const distanceMs = 40;

function sizesOf({ objects, minBytes, maxBytes, bytes }: typeof full): readonly number[] {
  const sizes = (steepness: number): readonly number[] =>
    Array.from({ length: objects }, (_, index) =>
      Math.round(minBytes * (maxBytes / minBytes) ** ((index / (objects - 1)) ** steepness)),
    );
  // A steeper curve has fewer large objects.
  for (let steepness = 1; ; steepness += 0.05) {
    const made = sizes(steepness);
    if (made.reduce((sum, size) => sum + size) <= bytes) return made;
  }
}

/** Creates objects and a repository with a pointer to each of them. Returns the total size of the objects. */
async function generateAssets(folder: string, plan: typeof full): Promise<number> {
  await mkdir(join(folder, 'objects'));
  const files: Record<string, string> = { '.gitattributes': '*.bin filter=lfs diff=lfs merge=lfs -text\n' };
  const sizes = sizesOf(plan);
  for (const [index, size] of sizes.entries()) {
    const bytes = randomBytes(size);
    const oid = createHash('sha256').update(bytes).digest('hex');
    await writeFile(join(folder, 'objects', oid), bytes);
    files[`Content/asset-${index}.bin`] = pointerTo({ oid, size });
  }
  const repository = createRepository(folder, 'game.git');
  repository.commit({ branch: 'main', files });
  repository.git('repack', '-a', '-d', '--quiet');
  return sizes.reduce((sum, size) => sum + size);
}

/** Ignores the Git settings of the machine, and sets the filters that a checkout with LFS needs. */
const gitEnvironment = (settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv => {
  const all = Object.entries({
    'filter.lfs.process': 'git-lfs filter-process',
    'filter.lfs.required': 'true',
    ...settings,
  });
  return {
    PATH: process.env['PATH'],
    HOME: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_COUNT: String(all.length),
    ...Object.fromEntries(
      all.flatMap(([name, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, name],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
};

/**
 * Measures `git fetch` and `git lfs fetch` into an empty repository. It stays until the end of the benchmark: ext4
 * creates files slowly after thousands of them were removed, and a sync comes next.
 */
async function plainFetch({ folder, signal }: Bench, remote: string, lfsUrl: string): Promise<number> {
  const repository = await mkdtemp(join(folder, 'fetch-'));
  const env = gitEnvironment({ 'lfs.url': lfsUrl });
  const git = (...args: readonly string[]) =>
    run('git', ['-C', repository, ...args], { env, signal, inOwnSession: true });
  await git('init', '--quiet', '--bare');
  await git('remote', 'add', 'origin', remote);
  const { ms } = await git('fetch', '--quiet', 'origin', '+refs/heads/main:refs/heads/main');
  return ms + (await git('lfs', 'fetch', 'origin', 'main')).ms;
}

/** Measures a clone with the content of every file, and removes it. */
async function clone({ folder, signal }: Bench, address: string, settings: Readonly<Record<string, string>>) {
  const own = await mkdtemp(join(folder, 'clone-'));
  const options = { env: gitEnvironment(settings), signal };
  const { ms } = await run('git', ['clone', '--quiet', address, own], options);
  const { output } = await run('git', ['-C', own, 'lfs', 'ls-files'], options);
  if (/^\w+ - /m.test(output)) throw new Error('A clone has pointers instead of files.');
  await rm(own, { recursive: true });
  return ms;
}

/** Syncs objects into new workspaces, in turns with plain fetches. */
async function compareSyncs(bench: Bench, service: RunningService, plan: typeof full) {
  bench.progress(`generating ${plan.objects} objects`);
  const assets = await mkdtemp(join(bench.folder, 'upstream-'));
  const bytes = await generateAssets(assets, plan);
  const { port } = await startUpstream(assets);
  const upstream = `http://127.0.0.1:${port}`;
  const remote = `file://${join(assets, 'game.git')}`;
  async function sync(workspace: string): Promise<number> {
    await addWorkspaces(service, [workspace], { remote, lfsUrl: upstream });
    const [ended] = (await syncTogether(service, workspace, 1, bench)).syncs;
    if (ended?.received_bytes !== bytes) throw new Error(`It received ${ended?.received_bytes} of ${bytes} bytes.`);
    return Date.parse(ended.finished_at ?? '') - Date.parse(ended.started_at ?? '');
  }
  const [fetchMs, syncMs]: [number[], number[]] = [[], []];
  const measures = [
    async () => void fetchMs.push(await plainFetch(bench, remote, upstream)),
    async (round: number) => void syncMs.push(await sync(`${plan.objects}-${round}`)),
  ];
  await inTurns(bench, plan.rounds, measures, (measure, round) => measure(round));
  const size = bytes < 2 ** 29 ? `${Math.round(bytes / 2 ** 20)} MiB` : `${(bytes / 2 ** 30).toFixed(1)} GiB`;
  const what = `${plan.objects.toLocaleString('en-US')} LFS objects, ${size}`;
  const ratio = ratioFigure(`${what}: a sync relative to git fetch and git lfs fetch`, syncMs, fetchMs, {
    limit: atMost(1.1, 'design §6'),
  });
  return { what, port, upstream, sync, syncMs, ratio };
}

const lockClients = 4;

export const objects: Benchmark = {
  name: 'objects',
  what: 'LFS objects: a sync compared with git lfs fetch, and a clone from the mirror compared with one from upstream.',
  async measure(bench) {
    const plan = bench.quick ? small : full;
    const service = await startService(bench);
    const before = await memoryOf(service.pid);
    const ofFewer = bench.quick ? [] : [(await compareSyncs(bench, service, fewer)).ratio];
    const { what, port, upstream, sync, syncMs, ratio } = await compareSyncs(bench, service, plan);
    const after = await memoryOf(service.pid);
    const farAway = `http://127.0.0.1:${(await startNetwork(port, distanceMs)).port}`;

    let syncing: Promise<unknown> = Promise.resolve();
    const asking = { ask: 'for locks, renewed and released', clients: lockClients } as const;
    const idle = createSeries({ ...asking, targets: () => [service] });
    const busy = createSeries({
      ...asking,
      targets(round) {
        syncing = sync(`beside-locks-${round}`);
        return [service];
      },
      afterRound: async () => void (await syncing),
    });
    await measureSeries(bench, { rounds: plan.rounds, warmUpMs: 0, ms: medianOf(syncMs) / 2 }, [idle, busy]);

    const clones = { mirror: [] as number[], near: [] as number[], far: [] as number[] };
    const ofMirror = `${service.baseUrl}/workspaces/${plan.objects}-0`;
    const signedIn = { 'http.extraHeader': `Authorization: Bearer ${service.token}`, 'lfs.url': `${ofMirror}/lfs` };
    const sources = [
      { ms: clones.mirror, address: `${ofMirror}/git`, settings: signedIn },
      { ms: clones.near, address: `${upstream}/game.git`, settings: { 'lfs.url': upstream } },
      { ms: clones.far, address: `${farAway}/game.git`, settings: { 'lfs.url': farAway } },
    ];
    await inTurns(bench, plan.rounds, sources, async ({ ms, address, settings }) => {
      ms.push(await clone(bench, address, settings));
    });
    const served = await memoryOf(service.pid);

    const p99 = (name: string, { latenciesMs }: Series) =>
      figure(`${name}, ${lockClients} clients: p99 of acquiring a lock`, 'ms', percentileOf(latenciesMs, 99));
    return [
      ...ofFewer,
      ratio,
      figure(`${what}: peak memory of the service, above idle`, 'MiB', after.peak - before.now, {
        limit: atMost(150, 'objects are streamed, and never kept in memory'),
      }),
      figure(`${what}: the same, with locks and clones`, 'MiB', served.peak - before.now),
      p99(`${what}, without a sync`, idle),
      p99(`${what}, during a sync`, busy),
      ratioFigure(`${what}: a clone from upstream at 0 ms relative to the mirror`, clones.near, clones.mirror),
      ratioFigure(
        `${what}: a clone from upstream at ${distanceMs} ms relative to the mirror`,
        clones.far,
        clones.mirror,
        { limit: atLeast(3, 'the purpose of a mirror close to the runners') },
      ),
    ];
  },
};
