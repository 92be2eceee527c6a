import fc from 'fast-check';
import { test } from 'vitest';
import type { Fault, Manner } from '../../../support/fault-proxy.ts';
import { failureOf, measured } from '../../../support/measured.ts';
import { everyForm, runs } from '../../../support/runs.ts';
import { printedSeed } from '../../../support/seed.ts';
import { soak } from '../place.ts';
import { faultText, gatewayFault } from './gateway-faults.ts';
import { Happening } from './happening.ts';
import { startSyncService } from './sync-service.ts';
import { branches, openSyncWorld, type SyncWorld } from './sync-world.ts';

const branch = fc.constantFrom(...branches);
const at = fc.integer({ min: 1, max: 5 });
const atOrNow = fc.option(at, { nil: undefined });
const when = (request: number | undefined): string => (request === undefined ? '' : ` before request ${request}`);

const serviceFault: fc.Arbitrary<Fault> = fc.constantFrom<Fault>(
  { kind: 'cut' },
  { kind: 'done-then-cut' },
  { kind: 'done-then-answer', status: 502 },
  { kind: 'done-then-truncated' },
  { kind: 'answer', status: 503, headers: { 'retry-after': '30' } },
  { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'answer', status: 429, headers: { 'retry-after': '3600' } },
  { kind: 'delay', ms: 1_500 },
  { kind: 'silence' },
);
const fault = fc.oneof(serviceFault, gatewayFault);

const happenings = [
  fc
    .record({ jobs: fc.constantFrom(1, 1, 3), branch, wait: fc.constantFrom(0, 20, 600) })
    .map(
      ({ jobs, branch: which, wait }) =>
        new Happening<SyncWorld>(`${jobs} sync ${which}, wait ${wait}s`, (world) => world.sync(jobs, which, wait)),
    ),
  fc
    .record({ how: fc.constantFrom('cancel', 'kill'), at, branch })
    .map(
      ({ how, at: request, branch: which }) =>
        new Happening<SyncWorld>(`${how} at request ${request} of a sync of ${which}`, (world) =>
          world.stopped(how, request, which),
        ),
    ),
  fc
    .record({ branch, at: atOrNow })
    .map(
      ({ branch: which, at: request }) =>
        new Happening<SyncWorld>(`${which} changes${when(request)}`, (world) => world.commit(which, request)),
    ),
  fc
    .array(fault, { minLength: 1, maxLength: 3 })
    .map(
      (faults) =>
        new Happening<SyncWorld>(`the network is about to fail: ${faults.map(faultText)}`, async (world) =>
          world.network(faults),
        ),
    ),
  fc.record({ faults: fc.array(gatewayFault, { minLength: 1, maxLength: 3 }), branch }).map(
    ({ faults, branch: which }) =>
      new Happening<SyncWorld>(
        `a gateway is about to answer: ${faults.map(faultText)}. 1 sync ${which}, wait 600s`,
        async (world) => {
          world.network(faults);
          await world.sync(1, which, 600);
        },
      ),
  ),
];

/** Slow events, so a short run has few of them. */
const rareHappenings = [
  atOrNow.map(
    (request) => new Happening<SyncWorld>(`the service restarts${when(request)}`, (world) => world.restart(request)),
  ),
  fc.constant(new Happening<SyncWorld>('the remote goes away, or comes back', (world) => world.moveRemote())),
];

/** The second service asks to retry later than a short wait ends. */
const manner = fc.constantFrom<Manner>({}, { retryAfter: 30 });

const asModelled = 'sequences of syncs, restarts and faults that matched the model';
const sequences = soak ? 2_000 : 40;

/** Number of concurrent sequences, each with its own service: a soak test plays several, as they mostly wait. */
const lanes = soak ? 4 : 1;

test('any sequence of syncs, restarts, cancellations and faults leads only to true reports of sync steps', {
  timeout: soak ? 6 * 3_600_000 : 180_000,
}, async () => {
  const seed = printedSeed('The sequences of syncs');
  let played = 0;
  let hasFailed = false;
  // A short run ends in time, but plays at least one sequence; a soak test plays all.
  const until = soak ? Number.POSITIVE_INFINITY : performance.now() + (everyForm ? 7_000 : 3_000);

  /** Returns the failures. */
  async function playLane(lane: number): Promise<readonly string[]> {
    const service = await startSyncService();
    try {
      const outcome = await fc.check(
        fc.asyncProperty(
          manner,
          fc.commands([...happenings, ...rareHappenings], { maxCommands: soak ? 10 : 6, size: 'max' }),
          async (how, commands) => {
            if (hasFailed || (played > 0 && performance.now() > until)) return;
            const world = await openSyncWorld(service, how);
            try {
              await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
              await world.end();
              played += 1;
            } finally {
              await world.close();
            }
          },
        ),
        { seed: seed + lane, numRuns: Math.ceil(sequences / lanes), endOnFailure: true },
      );
      hasFailed ||= outcome.failed;
      return await failureOf(outcome);
    } finally {
      await service.stop();
    }
  }

  const failures = await Promise.all(Array.from({ length: lanes }, (_, lane) => playLane(lane)));
  measured(
    'sequences in which a sync step reported something false',
    failures.filter((lines) => lines.length > 0).length,
    { exactly: 0 },
    failures.flat(),
  );
  measured(asModelled, played, { atLeast: runs(1, 2_000) });
});
