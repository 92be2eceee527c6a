import fc from 'fast-check';
import { beforeAll, test } from 'vitest';
import { type Fault, type Manner, pathByPath } from '../../../support/fault-proxy.ts';
import { measured } from '../../../support/measured.ts';
import type { OidcIssuer } from '../../../support/oidc-issuer.ts';
import { everyForm, runs } from '../../../support/runs.ts';
import { printedSeed } from '../../../support/seed.ts';
import { serviceOfTests } from '../../../support/service-of-tests.ts';
import { startJobIssuer } from '../../../support/trusted-jobs.ts';
import { soak, useService } from '../stage.ts';
import type { Who } from './book.ts';
import type { Naming } from './unlocks.ts';
import { audience, openWorld, type Taking, type World } from './world.ts';

/** Settings of services that trust jobs with an identity. */
const trusting = { publicUrl: () => audience, allowedNetworks: ['127.0.0.0/8'] };
useService(trusting);

/** Like `--rate-limit 5/s` for steps in tenfold time, with a burst so small that the steps reach the limit. */
const fiveASecond = { perSecond: 50, burst: 5 };
const limited = serviceOfTests({ ...trusting, rateLimit: fiveASecond });
let issuer: OidcIssuer;
beforeAll(async () => {
  issuer = await startJobIssuer();
  return () => issuer.close();
});

const jobs = 3;
/** A path may have any letters, also some that no header can have. */
const paths = ['a', 'b', '日'];

/** An event, with its name in failed sequences. The model is empty, since the world keeps it. */
interface Happening extends fc.AsyncCommand<Record<string, never>, World> {
  readonly play: (world: World) => Promise<void>;
}

function happening(name: string, play: (world: World) => Promise<void>): Happening {
  const playAndCheck = async (world: World): Promise<void> => {
    await play(world);
    await world.check();
  };
  return { check: () => true, run: (_, world) => playAndCheck(world), toString: () => name, play: playAndCheck };
}

const job = fc.nat({ max: jobs - 1 });
const path = fc.constantFrom(...paths);
const some = fc.shuffledSubarray(paths, { minLength: 1 });
/** A client with its own token, and one with the token of the jobs. */
const who = fc.constantFrom<Who>('stranger', 'sibling');

const taking: fc.Arbitrary<Taking> = fc
  .record({
    paths: some,
    wait: fc.constantFrom('0s', '3s'),
    autoRelease: fc.boolean(),
    onLost: fc.constantFrom('fail', 'fail', 'warn'),
    renew: fc.boolean(),
  })
  // Renewal ends with the job, so the action rejects it for locks that outlive the job.
  .map((one) => ({ ...one, renew: one.renew && one.autoRelease }));
const takingText = ({ paths: wanted, wait, autoRelease, onLost, renew }: Taking): string =>
  `${wanted} (wait ${wait}, auto-release ${autoRelease}, on-lost ${onLost}, renew ${renew})`;
/** Locks without a wait, until the end of the job. */
const takingAtOnce = fc
  .record({ paths: some, renew: fc.boolean() })
  .map(({ paths: wanted, renew }): Taking => ({ paths: wanted, wait: '0s', autoRelease: true, onLost: 'fail', renew }));

const page = (status: number, title: string) => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>\r\n`,
});

/**
 * Responses of gateways. None of them comes from the service, whatever the status. Empty ones and JSON are recognized
 * only once the service has shown its marks.
 */
const gatewayAnswers = [
  page(404, '404 Not Found'),
  page(403, '403 Forbidden'),
  page(401, '401 Authorization Required'),
  page(502, '502 Bad Gateway'),
  page(200, 'Sign in'),
];

/** The request may have been forwarded, and its response dropped. */
const gatewayFault: fc.Arbitrary<Fault> = fc
  .record({ response: fc.constantFrom(...gatewayAnswers), done: fc.boolean() })
  .map(({ response, done }): Fault => ({ kind: done ? 'done-then-answer' : 'answer', ...response }));

const serviceFault: fc.Arbitrary<Fault> = fc.constantFrom<Fault>(
  { kind: 'cut' },
  { kind: 'done-then-cut' },
  { kind: 'answer', status: 502 },
  { kind: 'done-then-answer', status: 502 },
  { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
  { kind: 'answer', status: 503 },
);
const fault = fc.oneof(serviceFault, gatewayFault);

/** Describes a fault in the output of a failed sequence. */
function faultText(fault: Fault): string {
  if (fault.kind !== 'answer' && fault.kind !== 'done-then-answer') return fault.kind;
  const { kind, status, headers = {}, body = '' } = fault;
  const details = [headers['retry-after'], headers['content-type'], body === '' ? 'empty' : undefined];
  return [kind, status, ...details.filter((detail) => detail !== undefined)].join(' ');
}

const jobLocks = (one: number, wanted: Taking): Happening =>
  happening(`job ${one} locks ${takingText(wanted)}`, (world) => world.lock(one, wanted));
const locks = fc.record({ job, taking }).map(({ job: one, taking: wanted }) => jobLocks(one, wanted));

/** The number of a request of a step: to lock, to look at the list, or to release. */
const request = fc.integer({ min: 1, max: 6 });
const killedAt = fc.record({ at: request, done: fc.boolean() });
const killedText = ({ at, done }: { readonly at: number; readonly done: boolean }): string =>
  `at request ${at}, ${done ? 'after' : 'before'} it is done,`;

/** A step that is stopped in one of these ways at one of its requests. */
const stopping = (
  name: (job: number, at: number) => string,
  how: 'cancelled' | 'orphaned' | 'survives' | 'wedged',
): fc.Arbitrary<Happening> =>
  fc
    .record({ job, wanted: takingAtOnce, at: request })
    .map(({ job: one, wanted, at }) =>
      happening(`${name(one, at)} for ${takingText(wanted)}`, (world) => world[how](one, wanted, at)),
    );

/** Most sequences start with locks, since without locks none can be lost. */
const beginning = fc.array(taking, { maxLength: jobs, size: 'max' });

const happenings = [
  ...[locks, locks],
  fc.record({ job, first: taking, second: taking }).map(({ job: one, first, second }) =>
    happening(`job ${one} locks ${takingText(first)}, and in its next step ${takingText(second)}`, async (world) => {
      await world.lock(one, first);
      await world.lock(one, second);
    }),
  ),
  fc
    .record({ job, taking: takingAtOnce, killedAt })
    .map(({ job: one, taking: wanted, killedAt: at }) =>
      happening(`job ${one} is killed ${killedText(at)} for ${takingText(wanted)}`, (world) =>
        world.killed(one, wanted, at),
      ),
    ),
  stopping((one, at) => `job ${one} is cancelled at request ${at}`, 'cancelled'),
  stopping((one, at) => `main of job ${one} survives its post-step, cancelled at request ${at}`, 'survives'),
  stopping((one, at) => `the worker of job ${one} is killed at request ${at}`, 'orphaned'),
  fc
    .record({ job, some, naming: fc.constantFrom<Naming>('path', 'path', 'pattern') })
    .map(({ job: one, some: which, naming }) =>
      happening(`job ${one} unlocks ${which} by ${naming}`, (world) => world.unlock(one, which, naming)),
    ),
  fc
    .record({ job, some, killedAt })
    .map(({ job: one, some: which, killedAt: at }) =>
      happening(`job ${one} unlocks ${which}, and is killed ${killedText(at)}`, (world) =>
        world.unlock(one, which, 'path', at),
      ),
    ),
  fc
    .record({ job, other: job, renew: fc.boolean(), isCanceled: fc.boolean() })
    .map(({ job: one, other, ...how }) =>
      happening(`job ${one} waits for job ${other}, which ends (${JSON.stringify(how)})`, (world) =>
        world.waitFor(one, other, how),
      ),
    ),
  path.map((which) => happening(`the lock on ${which}, or another, expires`, (world) => world.expire(which))),
  path.map((which) =>
    happening(`the lock on ${which}, or another, is released by force`, (world) => world.releaseByForce(which)),
  ),
  job.map((one) => happening(`the renewal process of job ${one} is killed`, (world) => world.killRenewers(one))),
  fc.constant(happening('the exchanged tokens of all jobs expire', (world) => world.endTokens())),
  job.map((one) => happening(`the ledger of job ${one} is deleted`, (world) => world.deleteLedger(one))),
  job.map((one) => happening(`the ledger of job ${one} gets a truncated line`, (world) => world.damageLedger(one))),
  job.map((one) => happening(`the machine of job ${one} is gone`, (world) => world.loseMachine(one))),
  fc
    .record({ path, who })
    .map(({ path: which, who: one }) =>
      happening(`a ${one} takes ${which} if it is free, or gives it back`, (world) => world.meddle(which, one)),
    ),
  fc
    .record({ path, who, at: fc.integer({ min: 1, max: 4 }) })
    .map(({ path: which, who: one, at }) =>
      happening(
        `before request ${at} from here on a ${one} takes ${which} if it is free, or gives it back`,
        async (world) => world.meddleAt(at, which, one),
      ),
    ),
  fc
    .array(fault, { minLength: 1, maxLength: 3 })
    .map((faults) =>
      happening(`the network is about to fail: ${faults.map(faultText)}`, async (world) => world.network(faults)),
    ),
  job.map((one) => happening(`job ${one} ends`, (world) => world.endJob(one))),
];

/** Events that take as long as the ttl of a short lock, or longer. */
const slowHappenings = [
  fc.constant(happening('the jobs continue for longer than a short ttl', (world) => world.passTime())),
  fc
    .record({ takes: fc.shuffledSubarray(paths), who })
    .map(({ takes, who: one }) =>
      happening(`the service is away for longer than a short ttl, and then a ${one} takes ${takes}`, (world) =>
        world.away(takes, one),
      ),
    ),
  job.map((one) =>
    happening(`the renewal process of job ${one} is stopped until its locks have expired`, (world) =>
      world.blockRenewers(one),
    ),
  ),
  stopping((one, at) => `job ${one} is stopped for longer than a short ttl at request ${at}`, 'wedged'),
  job.map((one) =>
    happening(`the renewal process of job ${one} is killed, and its locks expire`, async (world) => {
      await world.killRenewers(one);
      await world.shortLocksEnded();
    }),
  ),
];

/**
 * This service, one without leases, one whose locks have only ETags without quotes, one that has ids without ETags, one
 * that ignores these ids in a release, one that identifies locks only by their times, and one that does not identify them
 * at all; each with a rate limit that the jobs reach, and without one.
 */
const manner = fc.constantFrom<Manner>(
  {},
  pathByPath,
  { omitsQuotes: true },
  { givesNoTag: true },
  { givesNoTag: true, ignoresConditions: true },
  { givesNoProof: true },
  { givesNoProof: true, looksAlike: true },
);
const isLimited = fc.boolean();
const isIdentified = fc.boolean();

/** A counterexample of a property with the reason; empty if the property held. */
async function failureOf<Given>(outcome: fc.RunDetails<Given>): Promise<readonly string[]> {
  if (!outcome.failed) return [];
  const { errorInstance } = outcome;
  const reason = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return [(await fc.asyncDefaultReportMessage(outcome)) ?? '', reason ?? ''];
}

const asModelled = 'sequences of locks, kills and faults that matched the model';
const sequences = soak ? 2_000 : 40;

/** Number of concurrent sequences, each in its own world: most of the time they wait. */
const lanes = soak ? 8 : 2;

test('any sequence of locks, unlocks, waits, ends, kills and faults leaves no lock lost, leaked or stolen', {
  timeout: soak ? 3 * 3_600_000 : 300_000,
}, async () => {
  const seed = printedSeed('The sequences of locks');
  let played = 0;
  // A short run ends in time, but plays at least one sequence; a soak test plays all, or until one fails.
  let until = soak ? Number.POSITIVE_INFINITY : performance.now() + (everyForm ? 10_000 : 4_000);
  const property = fc.asyncProperty(
    manner,
    isLimited,
    isIdentified,
    fc.commands(soak ? [...happenings, ...slowHappenings] : happenings, { maxCommands: soak ? 20 : 5, size: 'max' }),
    beginning,
    async (how, slow, proving, commands, first) => {
      if (played > 0 && performance.now() > until) return;
      const service = slow ? limited : undefined;
      const world = await openWorld({
        players: jobs,
        paths,
        manner: how,
        service,
        issuer: proving ? issuer : undefined,
        patient: soak,
      });
      try {
        for (const [number, wanted] of first.entries()) await jobLocks(number, wanted).play(world);
        await fc.asyncModelRun(() => ({ model: {}, real: world }), commands);
        await world.end();
        played += 1;
      } catch (error) {
        if (soak) until = performance.now();
        throw error;
      } finally {
        await world.close();
      }
    },
  );
  const outcomes = await Promise.all(
    Array.from({ length: lanes }, (_, lane) =>
      // Shrinking a failure would take hours in a soak test.
      fc.check(property, { seed: seed + lane, numRuns: Math.ceil(sequences / lanes), endOnFailure: soak }),
    ),
  );
  const failures = await Promise.all(outcomes.map(failureOf));
  measured(
    'sequences in which a lock was lost, leaked or taken from its holder',
    outcomes.filter(({ failed }) => failed).length,
    { exactly: 0 },
    failures.flat(),
  );
  measured(asModelled, played, { atLeast: runs(1, 2_000) });
});
