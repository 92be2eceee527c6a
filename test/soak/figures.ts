import { atLeast, atMost, exactly, type Limit } from '../../bench/benchmark.ts';
import { everyForm, runs } from '../support/runs.ts';

/** Every figure of `npm run test:soak` with its limit, by the test that measures it. */

export interface Declared {
  /** The unit, such as `ms`; empty for a plain number. */
  readonly unit: string;
  readonly limit: Limit;
  /** Whether the measurements of several tests are added up; otherwise, the worst one counts. */
  readonly sum?: true;
}

type Figures = Readonly<Record<string, Declared>>;

const none = (reason: string): Declared => ({ unit: '', limit: exactly(0, reason) });
const count = (limit: Limit): Declared => ({ unit: '', limit });

/** A property that must hold each of this many times. */
const held = (few: number, many: number): Declared =>
  count(atLeast(runs(few, many), 'The number of tries: the property must hold each time.'));

const invariant = 'No lock is ever lost, left behind or held by two jobs.';
const enough = 'Fewer would test too little.';

const nobodyWaits = atMost(1_000, 'Requests of one client must not delay others by more than a second.');

const waitingJobs = runs(everyForm ? 8 : 4, 32);

export const declared = {
  'test/e2e/scenarios/waiting.test.ts': {
    'a wait of one second took': { unit: 'ms', limit: atMost(1_500, 'The wait plus half a second.') },
    'jobs that waited for one path and acquired it': count(exactly(waitingJobs, 'All waiting jobs.')),
    'waiting jobs that held the path concurrently, or with a lower fence': none(invariant),
    'requests of waiting jobs in the busiest second': count(
      atMost(2 * waitingJobs, 'Two per job: requests must not arrive all at once.'),
    ),
    'unsuccessful requests of waiting jobs per second': count(
      atMost(waitingJobs / 2, 'One per job in two seconds, on average.'),
    ),
  },
  'test/e2e/scenarios/any-of-several.test.ts': {
    'jobs that did not get their seats': none('All seats become free.'),
    'seats with two concurrent holders': none(invariant),
  },
  'test/e2e/scenarios/overlapping-sets.test.ts': {
    'overlapping sets locked': count(exactly(runs(everyForm ? 12 : 8, 160), 'All sets.')),
    'paths held concurrently, or with a lower fence': none(invariant),
    'lock requests per job and second': count(
      atMost(
        runs(20, 2),
        'A waiting job pauses for a second at first, then longer each time. With few jobs, waits are short.',
      ),
    ),
  },
  'test/e2e/scenarios/cancelled.test.ts': {
    'a canceled step ended after': { unit: 's', limit: atMost(5, 'Later, the runner sends harsher signals.') },
  },
  'test/e2e/scenarios/network-gone.test.ts': {
    'a post-step without a network gave up after': {
      unit: 's',
      limit: atMost(runs(60, 50), 'It retries for 45 s, and the runner ends it after one minute.'),
    },
  },
  'test/e2e/scenarios/limited-service.test.ts': {
    'concurrent jobs with many paths and one token took': {
      unit: 's',
      limit: atMost(120, 'Eight jobs of 3,000 paths each, with the default rate limit of the service.'),
    },
  },
  'test/e2e/scenarios/silent-at-deadline.test.ts': {
    'time beyond the wait of a step if the service stops responding': {
      unit: 's',
      limit: atMost(20, 'Ten seconds to resolve unanswered requests, and ten for a busy machine.'),
    },
  },
  'test/e2e/scenarios/model/any-sequence.test.ts': {
    'sequences of locks, kills and faults that matched the model': held(1, 2_000),
    'sequences in which a lock was lost, leaked or taken from its holder': none(invariant),
  },
  'test/e2e/scenarios/model/any-syncs.test.ts': {
    'sequences of syncs, restarts and faults that matched the model': held(1, 2_000),
    'sequences in which a sync step reported something false': none('Reports of a step must always be true.'),
  },
  'test/service/cli/receive-time.test.ts': {
    'a push waited for the check of its files, over a network of 10 ms': {
      unit: 'ms',
      limit: atMost(runs(30_000, 300), 'With the start of Node. People wait for it at each push.'),
    },
  },
  'test/service/lfs/garbage.test.ts': {
    'garbage requests to the Git LFS endpoints': held(150, 3_000),
  },
  'test/service/http/arbitrary-input.test.ts': {
    'arbitrary JSON sent to locks': held(40, 1_500),
    'arbitrary JSON sent to sync': held(40, 1_500),
    'arbitrary JSON sent to hooks': held(40, 1_500),
    'arbitrary push events': held(40, 1_500),
    'arbitrary bytes as a body': held(15, 500),
    'arbitrary URLs': held(100, 4_000),
    'arbitrary URLs of a lock': held(40, 1_500),
  },
  'test/service/webhooks/deliver-limits.test.ts': {
    'data sent by a receiver whose response never ends': {
      unit: 'MB',
      limit: atMost(8, 'The service reads at most 64 KB. The rest is in the buffers of the system.'),
    },
  },
  'test/service/webhooks/quotas.test.ts': {
    'a lock, with a full delivery queue': {
      unit: 'ms',
      limit: atMost(runs(100, 50), 'A few times the usual duration: waiting deliveries are not counted.'),
    },
    'the removal of a hook with a full delivery queue': {
      unit: 'ms',
      limit: atMost(5_000, 'Locks of the workspace wait for it, once.'),
    },
  },
  'test/service/webhooks/silent-receivers.test.ts': {
    'the slowest delivery of another workspace, with 100 silent receivers': {
      unit: 'ms',
      limit: atMost(runs(5_000, 1_000), 'One second. The short run shares its machine with other tests.'),
    },
  },
  'test/fire/fuzz-responses.test.ts': {
    'arbitrary responses as lists': held(20, 2_000),
    'arbitrary responses as errors and problem details': held(20, 2_000),
    'arbitrary responses as the status of a sync': held(20, 2_000),
    'arbitrary responses as acquired and released locks': held(20, 2_000),
    'arbitrary responses as hooks': held(20, 2_000),
  },
  'test/fire/fuzz-inputs.test.ts': {
    'arbitrary inputs, parsed': held(50, 10_000),
    'arbitrary inputs of a step': held(20, 3_000),
  },
  'test/fire/fuzz-records.test.ts': {
    'arbitrary ledgers and states': held(25, 5_000),
    'arbitrary `locks` and `locks-file`': held(12, 2_000),
  },
  'test/fire/instances.test.ts': {
    'killed instances': count(atLeast(runs(1, 5), enough)),
    'restarts of the database': count(exactly(runs(1, 2), 'One graceful, and one like a crash.')),
    'client requests': count(atLeast(runs(100, 1_000), enough)),
    'lost responses that were confirmed by their keys': count(atLeast(1, enough)),
    'granted locks': count(atLeast(runs(4, 500), enough)),
    'concurrent holders, lost locks or decreased fences': none(invariant),
    'acknowledged locks that were not recorded, and recorded locks of no client': none(invariant),
    'syncs that did not finish': none('Every accepted sync ends.'),
    'webhook deliveries': count(atLeast(runs(4, 500), enough)),
    'webhooks that were not delivered': none('Each is delivered at least once.'),
  },
  'test/fire/instances-restored.test.ts': {
    'instances killed before or after the restore': count(atLeast(1, enough)),
    'locks granted before the restore': count(atLeast(runs(4, 100), enough)),
    'locks granted after the restore': count(atLeast(runs(4, 100), enough)),
    'paths with a history that is not linearizable': none(invariant),
  },
  'test/fire/line.test.ts': {
    'transactions per second while the line waits': count(
      atMost(100, 'A poll by each of 1,000 clients in five seconds would be 200.'),
    ),
    'clients in line that were granted the lock': count(exactly(runs(190, 990), 'All but the ten that left.')),
    'clients overtaken while they waited': none('First come, first served.'),
    'median time from a release to the next grant': {
      unit: 'ms',
      limit: atMost(runs(300, 100), 'A tenth of a second. The short run shares its machine with other tests.'),
    },
  },
  'test/fire/power-cut.test.ts': {
    'power cuts': count(atLeast(runs(24, 2_000), enough)),
    'power cuts right after a response': count(atLeast(runs(24, 720), 'Half of the requests.')),
    'acknowledged locks that were missing, or databases that did not open': none('Acknowledged changes are durable.'),
  },
  'test/fire/limits-memory.test.ts': {
    'time under load': { unit: 's', limit: atLeast(runs(1, 600), 'Ten minutes.') },
    'peak resident memory': { unit: 'MB', limit: atMost(400, 'Less than a flood without limits would take.') },
    'growth of the number of open files': count(atMost(20, 'Files of the requests in progress.')),
    'growth of the heap from the second third to the last': {
      unit: 'MB',
      limit: atMost(5, 'The work of half a second: this finds ten thousand requests that leak 500 bytes each.'),
    },
    'growth of resident memory from the second third to the last': {
      unit: 'MB',
      limit: atMost(30, 'The system allocator keeps free memory.'),
    },
  },
  'test/fire/limits-full-disk.test.ts': {
    'writes rejected by a full disk': count(
      exactly(runs(8, 100), 'Enough for each part of the database to run out of space.'),
    ),
    'locks lost or partially stored on a full disk': none(invariant),
  },
  'test/fire/limits-open-files.test.ts': {
    'connections dropped for lack of file descriptors': count(
      atLeast(150, 'Of 200 connections, with 64 file descriptors.'),
    ),
    'CPU time per second without free file descriptors': {
      unit: 's',
      limit: atMost(0.9, 'A server that retries in a busy loop would use the full second.'),
    },
  },
  'test/fire/costly-input.test.ts': {
    'slowest response to other clients during a flood of form fields': { unit: 'ms', limit: nobodyWaits },
    'slowest response to other clients during combining marks in the wrong order': { unit: 'ms', limit: nobodyWaits },
    'a step with a response of 8 MB took': {
      unit: 's',
      limit: atMost(30, 'The time of one attempt, most of it for a busy machine.'),
    },
  },
} satisfies Readonly<Record<string, Figures>>;

type NamesIn<Part> = Part extends Figures ? keyof Part & string : never;
export type FigureName = { [File in keyof typeof declared]: NamesIn<(typeof declared)[File]> }[keyof typeof declared];

const all: ReadonlyMap<string, Declared> = new Map(
  Object.values<Figures>(declared).flatMap((its) => Object.entries(its)),
);

export function figureOf(name: FigureName): Declared {
  const figure = all.get(name);
  if (figure === undefined) throw new Error(`The figure "${name}" is not declared.`);
  return figure;
}
