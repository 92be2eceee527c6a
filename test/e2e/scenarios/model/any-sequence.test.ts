import fc from 'fast-check';
import { test } from 'vitest';
import type { Fault, Manner } from '../../../support/fault-proxy.ts';
import { figureOf } from '../../../support/soak/figures.ts';
import { measured } from '../../../support/soak/measured.ts';
import { failureOf } from '../../../support/soak/tried.ts';
import { soak, useService } from '../stage.ts';
import { openWorld, type World } from './world.ts';

useService();

const jobs = 3;
const paths = ['a', 'b', 'c'];

type Nothing = Record<string, never>;

/** What happens, and its name in a sequence that failed. */
class Happening implements fc.AsyncCommand<Nothing, World> {
  readonly name: string;
  readonly play: (world: World) => Promise<void>;
  constructor(name: string, play: (world: World) => Promise<void>) {
    this.name = name;
    this.play = play;
  }
  check(): boolean {
    return true;
  }
  async run(_: Nothing, world: World): Promise<void> {
    await this.play(world);
    await world.check();
  }
  toString(): string {
    return this.name;
  }
}

const job = fc.nat({ max: jobs - 1 });
const path = fc.constantFrom(...paths);
const some = fc.shuffledSubarray(paths, { minLength: 1 });

const fault: fc.Arbitrary<Fault> = fc.constantFrom<Fault>(
  { kind: 'cut' },
  { kind: 'done-then-cut' },
  { kind: 'answer', status: 502 },
  { kind: 'done-then-answer', status: 502 },
  { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'answer', status: 503 },
);

const happenings = [
  fc
    .record({ job, some, wait: fc.constantFrom('0s', '3s'), autoRelease: fc.boolean() })
    .map(
      ({ job: one, some: wanted, wait, autoRelease }) =>
        new Happening(`job ${one} locks ${wanted}, wait ${wait}, auto-release ${autoRelease}`, (world) =>
          world.lock(one, wanted, wait, autoRelease),
        ),
    ),
  fc
    .record({ job, some, at: fc.integer({ min: 1, max: 3 }), done: fc.boolean() })
    .map(
      ({ job: one, some: wanted, at, done }) =>
        new Happening(
          `job ${one} is killed at request ${at} for ${wanted}, ${done ? 'after' : 'before'} it is done`,
          (world) => world.killed(one, wanted, at, done),
        ),
    ),
  fc
    .record({ job, some, at: fc.integer({ min: 1, max: 3 }) })
    .map(
      ({ job: one, some: wanted, at }) =>
        new Happening(`job ${one} is cancelled at request ${at} for ${wanted}`, (world) =>
          world.cancelled(one, wanted, at),
        ),
    ),
  fc
    .record({ job, path })
    .map(
      ({ job: one, path: which }) => new Happening(`job ${one} unlocks ${which}`, (world) => world.unlock(one, which)),
    ),
  fc
    .record({ job, other: job })
    .map(
      ({ job: one, other }) =>
        new Happening(`job ${one} waits for job ${other}, which ends`, (world) => world.waitFor(one, other)),
    ),
  path.map((which) => new Happening(`the lock on ${which} expires`, (world) => world.expire(which))),
  path.map((which) => new Happening(`a stranger takes ${which} if it is free`, (world) => world.stranger(which))),
  fc
    .array(fault, { minLength: 1, maxLength: 3 })
    .map(
      (faults) =>
        new Happening(`the network is about to fail: ${faults.map(({ kind }) => kind)}`, async (world) =>
          world.network(faults),
        ),
    ),
  job.map((one) => new Happening(`job ${one} ends`, (world) => world.endJob(one))),
];

/** Ours, and one that tells locks apart by nothing but their times. */
const manner = fc.constantFrom<Manner>({}, { givesNoProof: true });

const asModelled = 'sequences of locks, kills and faults that went as the model says';
const sequences = soak ? figureOf(asModelled).limit.value : 40;

test('after any sequence of locks, unlocks, waits, ends, kills and faults no lock is lost, leaked or taken from somebody else', {
  timeout: soak ? 3 * 3_600_000 : 120_000,
}, async () => {
  const seed = Number(process.env['SEED'] ?? (Date.now() ^ (Math.random() * 2 ** 31)) | 0);
  process.stderr.write(`The sequences of locks are of the seed ${seed}: SEED=${seed} plays them again.\n`);
  let played = 0;
  // A short form ends in time; a soak test plays all.
  const until = soak ? Number.POSITIVE_INFINITY : performance.now() + 10_000;
  const outcome = await fc.check(
    fc.asyncProperty(
      manner,
      fc.commands(happenings, { maxCommands: soak ? 14 : 8, size: 'max' }),
      async (how, commands) => {
        if (performance.now() > until) return;
        const world = await openWorld(jobs, how);
        try {
          await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
          await world.end();
          played += 1;
        } finally {
          await world.close();
        }
      },
    ),
    // To look for a smaller failure would take a soak test hours.
    { seed, numRuns: sequences, endOnFailure: soak },
  );
  measured(
    'sequences in which a lock was lost, leaked or taken from somebody else',
    outcome.failed ? 1 : 0,
    await failureOf(outcome),
  );
  measured(asModelled, played);
});
