import { join } from 'node:path';
import { createRepository, manyCommits } from '../test/support/git-repository.ts';
import { atMost, type Benchmark, type Detail } from './benchmark.ts';
import { countingGit } from './service/counting-git.ts';
import { endedSync } from './service/ended-sync.ts';
import { startLoadGenerator } from './service/load-generator.ts';
import { startService } from './service/services.ts';
import { addWorkspaces } from './service/workspaces.ts';
import { percentilesOf } from './statistics.ts';

interface Plan {
  readonly rounds: number;
  readonly triggers: number;
}

const full: Plan = { rounds: 5, triggers: 1_000 };
const small: Plan = { rounds: 1, triggers: 100 };

const fewSyncs = 4;
const fewWhy =
  'design §4, "a handful": three of a branch in five seconds, and one for those who came after the third had begun';

const counts = (name: string, values: readonly number[]): Detail => ({ kind: 'rounds', name, unit: '', values });

/** A small repository is the hard case: the sooner a sync ends, the more of the storm comes after it. */
export const storm: Benchmark = {
  name: 'storm',
  what: 'A thousand triggers for a sync of the same branch at the same time, and how often git fetches for them.',
  async measure(bench) {
    const { rounds, triggers } = bench.quick ? small : full;
    const repository = createRepository(bench.folder);
    repository.commit(...manyCommits(100));
    const git = await countingGit(bench.folder);
    const service = await startService({
      kind: 'as installed',
      folder: join(bench.folder, 'service'),
      environment: { PATH: git.path },
    });
    bench.atEnd(service.stop);
    const generator = startLoadGenerator();
    bench.atEnd(generator.stop);
    const workspaces = Array.from({ length: rounds }, (_, round) => `round-${round}`);
    await addWorkspaces(service.data, workspaces, `file://${repository.path}`);
    await git.takeCommands();

    const syncs: number[] = [];
    const fetches: number[] = [];
    const starts: number[] = [];
    const latenciesMs: number[] = [];
    for (const workspace of workspaces) {
      bench.progress(`${workspace} of ${rounds}`);
      const { baseUrl, token } = service;
      const load = await generator.run({
        targets: [{ baseUrl, workspace }],
        token,
        ask: 'for syncs',
        name: workspace,
        clients: triggers,
        warmUpMs: 0,
        end: { kind: 'requests', number: triggers },
      });
      for (const location of load.resources) await endedSync(service, location, bench.signal);
      const commands = await git.takeCommands();
      syncs.push(load.resources.length);
      fetches.push(commands.filter((command) => command === 'fetch').length);
      starts.push(commands.length);
      latenciesMs.push(...load.latenciesMs);
    }

    const what = `${triggers.toLocaleString('en-US')} triggers at once`;
    return {
      figures: [
        {
          name: `${what}: syncs, at most in a round`,
          value: Math.max(...syncs),
          unit: '',
          limit: bench.quick ? undefined : atMost(fewSyncs, fewWhy),
          details: [counts('rounds', syncs)],
        },
        {
          name: `${what}: starts of git fetch, with those that only estimate`,
          value: Math.max(...fetches),
          unit: '',
          details: [counts('rounds', fetches), counts('starts of git for anything', starts)],
        },
        {
          name: `${what}: until all are answered`,
          value: Math.max(...latenciesMs),
          unit: 'ms',
          details: [
            {
              kind: 'distribution',
              name: 'until the answer',
              unit: 'ms',
              percentiles: percentilesOf(latenciesMs, [50, 90, 99, 100]),
            },
          ],
        },
      ],
    };
  },
};
