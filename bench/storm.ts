import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createRepository, manyCommits } from '../test/support/git-repository.ts';
import { atMost, type Benchmark, distribution, figure, rounds } from './benchmark.ts';
import { addWorkspaces, newPlace } from './service/seed.ts';
import { startService } from './service/service-process.ts';
import { askForSyncs, endedSync } from './service/sync.ts';

const full = { rounds: 5, triggers: 1_000 };
const small = { rounds: 1, triggers: 100 };

const maxSyncs = 4;
const why =
  'design §4, "a handful": three of a branch in five seconds, and one for those who came after the third had begun';

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** A git for the front of the PATH that writes down each start of the real one. */
async function countingGit(folder: string) {
  const file = join(folder, 'commands');
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\necho "$1" >>${quoted(file)}\nexec ${quoted(real)} "$@"\n`;
  const binFolder = join(folder, 'bin');
  await mkdir(binFolder);
  await writeFile(join(binFolder, 'git'), script, { mode: 0o755 });
  return {
    /** For the process whose use of git is counted. */
    binFolder,
    /** The commands that git was started with since the last call, such as `fetch`. */
    async takeCommands(): Promise<readonly string[]> {
      const text = await readFile(file, 'utf8').catch(() => '');
      await rm(file, { force: true });
      return text.split('\n').filter((line) => line !== '');
    },
  };
}

/** A small repository is the hard case: the sooner a sync ends, the more of the storm comes after it. */
export const storm: Benchmark = {
  name: 'storm',
  what: 'A thousand triggers for a sync of the same branch at the same time, and how often git fetches for them.',
  async measure(bench) {
    const { rounds: number, triggers } = bench.quick ? small : full;
    const repository = createRepository(bench.folder);
    repository.commit(...manyCommits(100));
    const git = await countingGit(bench.folder);
    const service = await startService(bench, await newPlace(bench), { binFolder: git.binFolder });
    const workspaces = Array.from({ length: number }, (_, round) => `round-${round}`);
    await addWorkspaces(service, workspaces, { remote: `file://${repository.path}` });
    await git.takeCommands();

    const syncs: number[] = [];
    const fetches: number[] = [];
    const starts: number[] = [];
    const latenciesMs: number[] = [];
    for (const workspace of workspaces) {
      bench.progress(`${workspace} of ${number}`);
      const { locations, latenciesMs: its } = await askForSyncs(service, workspace, triggers);
      for (const location of locations) await endedSync(service, location, bench.signal);
      const commands = await git.takeCommands();
      syncs.push(locations.length);
      fetches.push(commands.filter((command) => command === 'fetch').length);
      starts.push(commands.length);
      latenciesMs.push(...its);
    }

    const what = `${triggers.toLocaleString('en-US')} triggers at once`;
    return [
      figure(`${what}: syncs, at most in a round`, '', Math.max(...syncs), {
        limit: atMost(maxSyncs, why),
        details: [rounds('', syncs)],
      }),
      figure(`${what}: starts of git fetch, with those that only estimate`, '', Math.max(...fetches), {
        details: [rounds('', fetches), rounds('', starts, 'starts of git for anything')],
      }),
      figure(`${what}: until all are answered`, 'ms', Math.max(...latenciesMs), {
        details: [distribution(latenciesMs)],
      }),
    ];
  },
};
