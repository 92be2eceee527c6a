import { expect, test } from 'vitest';
import { createFairScheduler, maxMsPerTurn, turnsBetweenCostly } from '../../../src/service/http/fair-scheduler.ts';

/** Turns of the event loop that the test ends itself. */
function startTurns() {
  let ends: (() => void)[] = [];
  const begun: string[] = [];
  const turns = createFairScheduler((work) => ends.push(work));
  return {
    ...turns,
    ask(key: string, count = 1): void {
      for (let index = 0; index < count; index += 1) turns.wait(key, () => begun.push(key));
    },
    /** The keys of the requests that were started since the last call. */
    async begun(): Promise<string[]> {
      await new Promise(setImmediate);
      return begun.splice(0);
    },
    endTurn(): void {
      const now = ends;
      ends = [];
      for (const end of now) end();
    },
    isIdle: () => ends.length === 0,
  };
}

const times = (count: number, key: string): string[] => Array.from({ length: count }, () => key);

test('a key with one request is next, however many requests another key has queued', async () => {
  const turns = startTurns();
  turns.ask('flood', 1_000);
  expect(await turns.begun()).toEqual(times(maxMsPerTurn, 'flood'));
  turns.ask('other');
  turns.endTurn();
  expect(await turns.begun()).toEqual(['flood', 'other', ...times(maxMsPerTurn - 2, 'flood')]);
});

test('keys with many requests each take turns', async () => {
  const turns = startTurns();
  turns.ask('a', 100);
  await turns.begun();
  turns.ask('b', 100);
  turns.ask('c', 100);
  turns.endTurn();
  expect(await turns.begun()).toEqual(['a', 'b', 'c', 'a']);
});

test('all requests are started, a few in each turn, and then the scheduler is idle', async () => {
  const turns = startTurns();
  turns.ask('a', 3 * maxMsPerTurn);
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await turns.begun()).toEqual(times(maxMsPerTurn, 'a'));
    turns.endTurn();
  }
  while (!turns.isIdle()) turns.endTurn();
  turns.ask('b');
  expect(await turns.begun()).toEqual(['b']);
});

test('a key with four times the cost per request gets about a quarter as many turns as another', async () => {
  const turns = startTurns();
  for (let request = 0; request < 100; request += 1) turns.measured('costly', 4);
  turns.ask('costly', 1_000);
  turns.ask('usual', 1_000);
  const begun: string[] = [];
  for (let turn = 0; turn < 200; turn += 1) {
    turns.endTurn();
    begun.push(...(await turns.begun()));
  }
  const countOf = (key: string): number => begun.filter((each) => each === key).length;
  expect(countOf('usual')).toBeGreaterThan(250);
  expect(countOf('usual') / countOf('costly')).toBeCloseTo(4, 0);
  expect(countOf('usual') / countOf('costly')).toBeLessThan(5);
});

test('a request that costs more than a turn is started every fifth turn, even if no other key waits', async () => {
  const turns = startTurns();
  for (let request = 0; request < 100; request += 1) turns.measured('costly', 4 * maxMsPerTurn);
  turns.ask('costly', 1_000);
  let begun = 0;
  for (let turn = 0; turn < 100; turn += 1) {
    begun += (await turns.begun()).length;
    turns.endTurn();
  }
  expect(begun).toBe(100 / (turnsBetweenCostly + 1));
});

test('a key whose requests become cheap again is no longer held back, and has more started per turn', async () => {
  const turns = startTurns();
  turns.measured('a', 1_000);
  for (let request = 0; request < 100; request += 1) turns.measured('a', 0.1);
  turns.ask('a', 100);
  const begun = await turns.begun();
  expect(begun.length).toBeGreaterThanOrEqual(4 * maxMsPerTurn - 1);
  expect(begun.length).toBeLessThanOrEqual(4 * maxMsPerTurn + 1);
});

test('a canceled request is not started, and takes no turn from others', async () => {
  const turns = startTurns();
  turns.ask('flood', maxMsPerTurn);
  const leaves = Array.from({ length: 1_000 }, () => turns.wait('flood', () => expect.fail('It has left.')));
  turns.ask('other');
  for (const leave of leaves) leave();
  await turns.begun();
  turns.endTurn();
  expect(await turns.begun()).toEqual(['other']);
});

test('requests wait after a new connection, so that others are accepted first, but not forever', async () => {
  const turns = startTurns();
  turns.ask('a', 1_000);
  await turns.begun();
  turns.connected();
  turns.endTurn();
  expect(await turns.begun()).toEqual([]);
  turns.endTurn();
  expect(await turns.begun()).toHaveLength(maxMsPerTurn);

  let turnsWithout = 0;
  for (let turn = 0; turn < 200; turn += 1) {
    turns.connected();
    turns.endTurn();
    if ((await turns.begun()).length === 0) turnsWithout += 1;
  }
  expect(turnsWithout).toBeGreaterThan(100);
  expect(turnsWithout).toBeLessThan(200);
});
