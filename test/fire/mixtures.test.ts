import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { figureOf } from '../soak/figures.ts';
import { measured } from '../soak/measured.ts';
import { failureOf } from '../soak/tried.ts';
import { type Fault, grantedBy } from '../support/fault-proxy.ts';
import { printedSeed } from '../support/seed.ts';
import { type Ended, expectInTime, type Fire, type Given, type Ground, type Player, startFire } from './ground.ts';

let fire: Fire;

beforeAll(async () => {
  fire = await startFire();
});
afterAll(() => fire.stop());

const fault = fc.oneof<fc.Arbitrary<Fault | undefined>[]>(
  fc.constant(undefined),
  fc.constantFrom<Fault>(
    { kind: 'cut' },
    { kind: 'silence' },
    { kind: 'done-then-cut' },
    { kind: 'done-then-silence' },
    { kind: 'done-then-truncated' },
    { kind: 'answer', status: 429, headers: { 'retry-after': '1' } },
    { kind: 'answer', status: 429, headers: { 'retry-after': '3600' } },
    { kind: 'answer', status: 200, body: '<html><body>Please log in.</body></html>' },
    { kind: 'answer', status: 302, headers: { location: 'https://login.example.com/' } },
  ),
  fc
    .tuple(fc.constantFrom(500, 502, 503, 504), fc.boolean())
    .map(([status, done]): Fault => ({ kind: done ? 'done-then-answer' : 'answer', status })),
  fc.integer({ min: 1, max: 300 }).map((ms): Fault => ({ kind: 'delay', ms })),
  fc.integer({ min: 0, max: 20 }).map((everyMs): Fault => ({ kind: 'done-then-drip', everyMs })),
);

const paths = ['a', 'b/c'];
const some = fc.shuffledSubarray(paths, { minLength: 1 }).map((chosen) => chosen.join('\n'));

/** Any step of a job: with two jobs, one may want the lock that the other holds. */
const step = fc.oneof<fc.Arbitrary<Given>[]>(
  fc.record({ path: some, wait: fc.constantFrom('0s', '10s') }).map((given) => ({ operation: 'lock', ...given })),
  fc.constant({ operation: 'unlock' }),
  fc.constantFrom(
    { operation: 'list-locks', 'fail-if-locked': 'true' },
    { operation: 'sync', branch: 'main', wait: '10s' },
    { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' },
    { operation: 'list-branches' },
    { operation: 'list-workspaces' },
  ),
);

const turn = fc.record({
  who: fc.nat({ max: 1 }),
  step,
  /** The faults of the next requests; later requests pass. */
  faults: fc.array(fault, { maxLength: 6 }),
  retries: fc.constantFrom('0', '2', '4'),
});

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;

/** A lock that a job relies on because a step has reported it. */
interface Counted {
  readonly path: string;
  readonly id: string;
}

interface Side {
  readonly player: Player;
  counted: readonly Counted[];
  /** The output of its last lock step, for its next unlock. */
  handed: string;
}

const longest = 'the longest step of a mixture, relative to its time limit';
const longestWaitMs = 10_000;

function believe(side: Side, { operation }: Given, { conclusion, outputs }: Ended): void {
  if (operation === 'lock' && conclusion === 'success') {
    const locks: readonly Counted[] = JSON.parse(outputs['locks'] ?? '[]');
    side.counted = [...side.counted, ...locks.map(({ path, id }) => ({ path, id }))];
    side.handed = outputs['locks'] ?? '[]';
  }
  // A lock that could not be released may still be gone: the job no longer relies on it.
  if (operation === 'unlock') {
    const tried: readonly Counted[] = JSON.parse(side.handed);
    side.counted = side.counted.filter(({ id }) => !tried.some((lock) => lock.id === id));
  }
}

async function expectTrue(ground: Ground, sides: readonly Side[]): Promise<void> {
  const there = await ground.locks();
  const counted = sides.flatMap((side) => side.counted);
  // Two jobs relying on the same path would be two holders: the service has one lock on it.
  for (const { path, id } of counted) expect(there).toContainEqual(expect.objectContaining({ path, id }));
  expect(new Set(counted.map(({ path }) => path)).size).toBe(counted.length);
  const granted = ground.proxy.passed.flatMap(grantedBy);
  const fences = new Map(granted.map(({ fence, id }) => [fence, id]));
  expect(fences.size).toBe(new Set(granted.map(({ id }) => id)).size);
  expect((await ground.hooks()).length).toBeLessThanOrEqual(1);
}

async function takeTurn(
  ground: Ground,
  sides: readonly Side[],
  { who, step: given, faults, retries }: Turn,
): Promise<void> {
  const side = sides[who];
  if (side === undefined) throw new Error('There is nobody to take a turn.');
  const coming = [...faults];
  ground.proxy.meet(() => coming.shift());
  const locks = given['operation'] === 'unlock' ? { locks: side.handed } : {};
  const ended = await side.player.run({ ...given, ...locks, retries, 'request-timeout': '10s' });
  expectInTime(longest, ended, 120_000 + 10_000 + longestWaitMs);
  believe(side, given, ended);
  await expectTrue(ground, sides);
}

async function endJob(
  ground: Ground,
  side: Side,
  steps: number,
  faults: readonly (Fault | undefined)[],
): Promise<void> {
  const coming = [...faults];
  ground.proxy.meet(() => coming.shift());
  for (let left = steps; left > 0; left -= 1) {
    const post = await side.player.post();
    expect(post.conclusion, post.log).toBe('success');
    expectInTime(longest, post, 60_000);
  }
}

/** Login pages and redirects are not transient: a post-step that meets one reports the remaining locks and gives up. */
const isPassing = (met: Fault | undefined): boolean =>
  met?.kind !== 'answer' || (met.status >= 429 && met.headers?.['retry-after'] !== '3600');

async function play(ground: Ground, turns: readonly Turn[], atEnd: readonly (Fault | undefined)[]): Promise<void> {
  const sides: readonly Side[] = [
    { player: await ground.player(), counted: [], handed: '[]' },
    { player: await ground.player(), counted: [], handed: '[]' },
  ];
  for (const each of turns) await takeTurn(ground, sides, each);
  for (const [index, side] of sides.entries()) {
    const steps = turns.filter(({ who }) => who === index).length;
    await endJob(ground, side, steps, index === 0 ? atEnd.filter(isPassing) : []);
    side.counted = [];
    await expectTrue(ground, sides);
    const left = await ground.locks();
    expect(left.filter(({ origin }) => origin === side.player.origin)).toEqual([]);
  }
}

test('each step of two jobs ends in time and reports the truth under any faults, and no lock remains', {
  timeout: 3 * 3_600_000,
}, async () => {
  const seed = printedSeed('The mixtures of faults');
  const mixtures = 'random mixtures of faults';
  let played = 0;
  const outcome = await fc.check(
    fc.asyncProperty(
      fc.array(turn, { minLength: 1, maxLength: 6, size: 'max' }),
      fc.array(fault, { maxLength: 6 }),
      async (turns, atEnd) => {
        const ground = await fire.ground();
        try {
          await play(ground, turns, atEnd);
          played += 1;
        } finally {
          await ground.close();
        }
      },
    ),
    { seed, numRuns: figureOf(mixtures).limit.value, endOnFailure: process.env['SOAK'] === '1' },
  );
  const wrong = 'mixtures in which a step was late, reported something false or left a lock behind';
  measured(wrong, outcome.failed ? 1 : 0, await failureOf(outcome));
  measured(mixtures, played);
});
