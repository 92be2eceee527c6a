import { afterAll, beforeAll, expect, test } from 'vitest';
import { oneMore } from '../soak/measured.ts';
import { type Trouble, troubles } from './faults.ts';
import { expectInTime, type Fire, type Ground, type Player, startFire } from './ground.ts';
import { type Operation, operations } from './operations.ts';

let fire: Fire;

beforeAll(async () => {
  fire = await startFire();
});
afterAll(() => fire.stop());

const soak = process.env['SOAK'] === '1';

const longest = 'the longest step, relative to its time limit';

const isPost = ({ name }: Operation): boolean => name === 'the post-step';

async function onGround(play: (ground: Ground, player: Player) => Promise<void>): Promise<void> {
  const ground = await fire.ground();
  try {
    await play(ground, await ground.player());
    oneMore('cells of the matrix that ended in time with a true report');
  } finally {
    await ground.close();
  }
}

/** Repairs the network and ends the job. No lock of the job remains. */
async function endWell(ground: Ground, player: Player): Promise<void> {
  ground.proxy.meet(() => undefined);
  const post = await player.post();
  expect(post.conclusion, post.log).toBe('success');
  expectInTime(longest, post, 60_000);
  const left = await ground.locks();
  expect(left.filter(({ origin }) => origin === player.origin)).toEqual([]);
}

const meet = ({ operation, trouble }: Meeting): Promise<void> =>
  onGround(async (ground, player) => {
    if (trouble.atAddress) await trouble.begin(ground);
    const given = (await operation.prepare?.(player)) ?? {};
    if (!trouble.atAddress) await trouble.begin(ground);
    const retries = trouble.ends === 'failure' ? { retries: '1' } : {};
    const ended = await operation.play(player, { ...given, ...retries });
    expectInTime(longest, ended, isPost(operation) ? 60_000 : undefined);
    expect(ended.conclusion, ended.log).toBe(isPost(operation) ? 'success' : trouble.ends);
    await operation.check(ground, ended, player);
    if (isPost(operation) && trouble.ends === 'success') expect(await ground.locks()).toEqual([]);
    if (operation.name === 'lock') await endWell(ground, player);
  });

interface Meeting {
  readonly trouble: Trouble;
  readonly operation: Operation;
  readonly title: string;
}

/** A step that never gets a connection cannot run a step before it. */
const canMeet = (operation: Operation, trouble: Trouble): boolean =>
  trouble.ends === 'success' || !trouble.atAddress || operation.prepare === undefined;

/** Each fault with one operation, and each operation with some transient and permanent faults; soak tests run all. */
const chosenFor = (row: number): number => (Math.floor(row / 2) + (row % 2) * 4) % operations.length;

const meetings = troubles.flatMap((trouble, row): readonly Meeting[] =>
  operations
    .filter((operation, column) => canMeet(operation, trouble) && (soak || column === chosenFor(row)))
    .map((operation) => ({ trouble, operation, title: `${operation.name} meets ${trouble.name}` })),
);

test.concurrent.each(meetings.map((meeting) => [meeting.title, meeting] as const))(
  '%s: ends in time with a reason, and reports the truth',
  (_, meeting) => meet(meeting),
);

const longTroubles = ['a reset before a request is done', 'a 429 with Retry-After', 'a request without a response']
  .map((name) => `${name}, always`)
  .concat('a network that fails after the first lock or release');

const long = troubles.filter(({ name }) => longTroubles.includes(name));
const pairs: readonly Meeting[] = operations.flatMap((operation) =>
  long
    .filter(({ name }) => soak || (operation.name === 'lock' && name === longTroubles.at(-1)))
    .map((trouble) => ({ trouble, operation, title: `${operation.name} meets ${trouble.name}` })),
);

test.concurrent.each(pairs.map((meeting) => [meeting.title, meeting] as const))(
  '%s: ends within its deadline, however many retries are allowed',
  (_, meeting) =>
    onGround(async (ground, player) => {
      const { operation, trouble } = meeting;
      const given = (await operation.prepare?.(player)) ?? {};
      await trouble.begin(ground);
      // Each attempt is long enough to detect one that continues beyond the deadline.
      const ended = await operation.play(player, { ...given, retries: '100', 'request-timeout': '60s' });
      expectInTime(longest, ended, isPost(operation) ? 60_000 : 180_000);
      await operation.check(ground, ended, player);
    }),
);
