import { atLeast, atMost, exactly, type Limit } from '../../../bench/benchmark.ts';
import { everyForm, runs } from '../runs.ts';

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

/** A property that is tried this many times, and holds each time. */
const held = (few: number, many: number): Declared =>
  count(atLeast(runs(few, many), 'As often as it is tried; it holds each time.'));

const invariant = 'Whatever happens, no lock is lost, left behind or had by two.';
const enough = 'Less would be a rehearsal.';

const nobodyWaits = atMost(1_000, 'What one sends keeps nobody else waiting for more than a moment.');

const waitingJobs = runs(everyForm ? 8 : 4, 32);

export const declared = {
  'test/e2e/scenarios/waiting.test.ts': {
    'a wait of one second ended after': { unit: 'ms', limit: atMost(1_500, 'The wait, and half a second.') },
    'jobs that waited for one path and got it': count(exactly(waitingJobs, 'All that waited.')),
    'of them, two at a time, or with a lower fence than before': none(invariant),
    'their requests for it in the busiest second': count(
      atMost(2 * waitingJobs, 'Two each: they do not come all at once.'),
    ),
    'their requests in vain each second': count(atMost(waitingJobs / 2, 'One each in two seconds, on average.')),
  },
  'test/e2e/scenarios/any-of-several.test.ts': {
    'of the jobs that wanted some of several seats, not served': none('Seats come free.'),
    'seats that two held at a time': none(invariant),
  },
  'test/e2e/scenarios/overlapping-sets.test.ts': {
    'overlapping sets that were locked': count(exactly(runs(everyForm ? 12 : 8, 160), 'All of them.')),
    'paths that two held at a time, or with a lower fence than before': none(invariant),
    'requests for a lock, of each job and second of its time': count(
      atMost(runs(20, 2), 'Who waits pauses for a second at first, and longer each time; few jobs hardly wait.'),
    ),
  },
  'test/e2e/scenarios/cancelled.test.ts': {
    'a step that is cancelled was gone after': { unit: 's', limit: atMost(5, 'Then the runner becomes harsher.') },
  },
  'test/e2e/scenarios/network-gone.test.ts': {
    'a post-step without a network gave up after': {
      unit: 's',
      limit: atMost(runs(60, 50), 'It tries for 45 s, and the runner ends it after a minute.'),
    },
  },
  'test/e2e/scenarios/limited-service.test.ts': {
    'jobs of many paths on one token, all at once, ended after': {
      unit: 's',
      limit: atMost(120, 'Eight jobs of 3,000 paths each, with the rate limit that the service is shipped with.'),
    },
  },
  'test/e2e/scenarios/silent-at-deadline.test.ts': {
    'a step whose service fell silent ended, after the deadline of its wait': {
      unit: 's',
      limit: atMost(20, 'Ten seconds to settle what is unclear, and ten for a busy machine.'),
    },
  },
  'test/e2e/scenarios/model/any-sequence.test.ts': {
    'sequences of locks, kills and faults that went as the model says': held(1, 2_000),
    'sequences in which a lock was lost, leaked or taken from somebody else': none(invariant),
  },
  'test/e2e/scenarios/model/any-syncs.test.ts': {
    'sequences of syncs, restarts and faults that went as the model says': held(1, 2_000),
    'sequences in which a sync step told something that is not so': none('Whatever happens, what a step says is so.'),
  },
  'test/service/lfs/garbage.test.ts': {
    'garbage sent to the addresses of Git LFS': held(150, 3_000),
  },
  'test/service/http/arbitrary-input.test.ts': {
    'any JSON sent to locks': held(40, 1_500),
    'any JSON sent to sync': held(40, 1_500),
    'any JSON sent to hooks': held(40, 1_500),
    'any bytes as a body': held(15, 500),
    'any address': held(100, 4_000),
    'any address of a lock': held(40, 1_500),
  },
  'test/service/webhooks/deliver-limits.test.ts': {
    'what a receiver without end got rid of, in what the system holds for a connection': {
      unit: 'MB',
      limit: atMost(8, 'What is sent before the connection is cut lies in the buffers of the system; 64 KB are read.'),
    },
  },
  'test/service/webhooks/quotas.test.ts': {
    'a lock, beside a webhook for which as many deliveries wait as may': {
      unit: 'ms',
      limit: atMost(runs(100, 50), 'A few times what it takes on its own: nothing is counted.'),
    },
  },
  'test/service/webhooks/silent-receivers.test.ts': {
    'the slowest delivery of another workspace, beside a hundred silent receivers': {
      unit: 'ms',
      limit: atMost(runs(5_000, 1_000), 'Within a second; the short form shares its machine with other tests.'),
    },
  },
  'test/fire/fuzz-responses.test.ts': {
    'any answers as lists': held(20, 2_000),
    'any answers as errors and problem details': held(20, 2_000),
    'any answers as the status of a sync': held(20, 2_000),
    'any answers as locks that are taken and given back': held(20, 2_000),
    'any answers as hooks': held(20, 2_000),
  },
  'test/fire/fuzz-inputs.test.ts': {
    'any inputs, as they are read': held(50, 10_000),
    'any inputs of a step': held(20, 3_000),
  },
  'test/fire/fuzz-records.test.ts': {
    'any ledger and state': held(25, 5_000),
    'any locks that are handed on': held(12, 2_000),
  },
  'test/fire/faults.test.ts': {
    'cells of the matrix: ended in time, and told the truth': {
      unit: '',
      limit: exactly(222, 'Each fault × each operation that can meet it.'),
      sum: true,
    },
    'the longest step, as a part of the time that it has': {
      unit: '',
      limit: atMost(
        1,
        'Two minutes and one attempt, a post-step one minute; and 20 s of its clock for a busy machine.',
      ),
    },
  },
  'test/fire/mixtures.test.ts': {
    'random mixtures of faults that were played': held(2, 300),
    'mixtures in which a step was late, did not tell the truth or left a lock': none(invariant),
    'the longest step of a mixture, as a part of the time that it has': {
      unit: '',
      limit: atMost(1, 'Two minutes, one attempt and its wait, a post-step one minute; and 20 s for a busy machine.'),
    },
  },
  'test/fire/rate-limit.test.ts': {
    'locks left behind by jobs that together want more than their token may ask for': none(invariant),
    'locks left behind by jobs that share a token': none(invariant),
    'refusals of jobs that share a token': none('Real jobs do not meet the limit that the service has by default.'),
  },
  'test/fire/instances.test.ts': {
    'instances that were killed': count(atLeast(runs(1, 5), enough)),
    'restarts of the database': count(exactly(runs(1, 2), 'One in good order, and one that is not.')),
    'requests of the clients': count(atLeast(runs(100, 1_000), enough)),
    'answers that were lost, and proven by their keys': count(atLeast(1, enough)),
    'locks that were granted': count(atLeast(runs(4, 500), enough)),
    'two holders at a time, lost locks or fences that fell': none(invariant),
    'acknowledged locks that are not accounted for, and locks that nobody knows of': none(invariant),
    'syncs that did not finish': none('Each that was accepted ends.'),
    'deliveries of webhooks': count(atLeast(runs(4, 500), enough)),
    'webhooks that were not delivered': none('Each at least once.'),
  },
  'test/fire/instances-restored.test.ts': {
    'instances that were killed, before or after the restore': count(atLeast(1, enough)),
    'locks that were granted before the restore': count(atLeast(runs(4, 100), enough)),
    'locks that were granted after the restore': count(atLeast(runs(4, 100), enough)),
    'paths whose history no order of locks explains': none(invariant),
  },
  'test/fire/power-cut.test.ts': {
    'moments at which the power was cut': count(atLeast(runs(24, 2_000), enough)),
    'of them, right after an answer': count(atLeast(runs(24, 720), 'Half of the requests.')),
    'acknowledged locks that were not there again, or databases that did not open': none(
      'What was answered is durable.',
    ),
  },
  'test/fire/limits-garbage.test.ts': {
    'garbage requests': count(exactly(runs(3_000, 100_000), 'All that were to be sent.')),
    'garbage that was taken for a request, not answered, or answered with 5xx': none('It is the fault of its sender.'),
    'requests of others meanwhile': count(atLeast(runs(9, 1_000), enough)),
    'others that were answered wrong': none('They are none of its business.'),
    'others, 99 % answered within': { unit: 'ms', limit: atMost(1_000, 'Nobody waits for more than a moment.') },
  },
  'test/fire/limits-memory.test.ts': {
    'time under load': { unit: 's', limit: atLeast(runs(1, 600), 'Ten minutes.') },
    'answers with a status that must not be': none('Load is no reason.'),
    'resident memory at most': { unit: 'MB', limit: atMost(400, 'Less than a flood without limits would take.') },
    'growth of the number of open files': count(atMost(20, 'Those of the requests that are under way.')),
    'growth of the heap from the second third to the last': {
      unit: 'MB',
      limit: atMost(5, 'The work of half a second: ten thousand requests that leave 500 bytes each are found.'),
    },
    'growth of resident memory from the second third to the last': {
      unit: 'MB',
      limit: atMost(30, 'The allocator of the system keeps pieces for later.'),
    },
  },
  'test/fire/limits-full-disk.test.ts': {
    'writes that a full disk refused': count(exactly(runs(8, 100), 'Each piece of the database runs out of room.')),
    'locks that were lost or half-done by it': none(invariant),
  },
  'test/fire/limits-read-only-disk.test.ts': {
    'locks that are there after a disk has become read-only': count(exactly(20, 'All that were taken before.')),
  },
  'test/fire/limits-open-files.test.ts': {
    'connections that were turned away, with no file left for them': count(atLeast(150, 'Of 200, with 64 files.')),
    'processor time of a second meanwhile': {
      unit: 's',
      limit: atMost(0.9, 'A server that tries in vain, again and again, would use all of it.'),
    },
  },
  'test/fire/costly-input.test.ts': {
    'others, during a flood of form fields, answered within': { unit: 'ms', limit: nobodyWaits },
    'others, during paths and names of marks in the wrong order, answered within': { unit: 'ms', limit: nobodyWaits },
    'a step whose answer is 8 MB ended after': {
      unit: 's',
      limit: atMost(30, 'The time of one attempt; much of it is for a busy machine.'),
    },
  },
  'test/fire/hostile-guests.test.ts': {
    'locks, renewals and releases beside a hostile tenant': count(atLeast(runs(100, 10_000), enough)),
    'of an honest tenant, what was refused, wrong or lost': none('What another tenant does is none of its business.'),
    'locks beside a hostile tenant, 99 % answered within': {
      unit: 'ms',
      limit: atMost(runs(5_000, 500), 'Half a second; the short form shares its machine with other tests.'),
    },
    'the slowest delivery beside a hostile tenant': {
      unit: 'ms',
      limit: atMost(runs(30_000, 5_000), 'Five seconds; the short form shares its machine with other tests.'),
    },
    '/healthz beside a hostile tenant, answered within': {
      unit: 'ms',
      limit: atMost(runs(10_000, 2_000), 'What looks after the service does not take it for dead.'),
    },
    'resident memory beside a hostile tenant, at most': {
      unit: 'MB',
      limit: atMost(800, 'Far less than a flood without limits takes.'),
    },
    'growth of resident memory beside a hostile tenant': {
      unit: 'MB',
      limit: atMost(
        60,
        'From the second third of the time to the last: the heap and the allocator keep room for later.',
      ),
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
