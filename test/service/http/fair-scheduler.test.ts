import { expect, test } from 'vitest';
import { createFairScheduler, maxMsPerTurn, turnsBetweenCostly } from '../../../src/service/http/fair-scheduler.ts';

/** Turns of the event loop, which the test ends itself. */
function startTurns() {
  let ends: (() => void)[] = [];
  const begun: string[] = [];
  const turns = createFairScheduler((work) => ends.push(work));
  return {
    ...turns,
    ask(key: string, count = 1): void {
      for (let index = 0; index < count; index += 1) turns.wait(key, () => begun.push(key));
    },
    /** Those that were begun since this was asked for. */
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

test('whoever asks for one thing is next, however much another has asked for before', async () => {
  const turns = startTurns();
  turns.ask('flood', 1_000);
  expect(await turns.begun()).toEqual(times(maxMsPerTurn, 'flood'));
  turns.ask('other');
  turns.endTurn();
  expect(await turns.begun()).toEqual(['flood', 'other', ...times(maxMsPerTurn - 2, 'flood')]);
});

test('keys that all ask much have their turns one after the other', async () => {
  const turns = startTurns();
  turns.ask('a', 100);
  await turns.begun();
  turns.ask('b', 100);
  turns.ask('c', 100);
  turns.endTurn();
  expect(await turns.begun()).toEqual(['a', 'b', 'c', 'a']);
});

test('everything that is asked is begun, a few in each turn, and then nothing is left to do', async () => {
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

test('a key whose requests cost four times as much has about a quarter of the turns where another waits', async () => {
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

test('a request that costs more than a turn is begun in every fifth turn, also where nobody else waits', async () => {
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

test('a key whose requests cost little again is no longer held back, and has more of them begun in a turn', async () => {
  const turns = startTurns();
  turns.measured('a', 1_000);
  for (let request = 0; request < 100; request += 1) turns.measured('a', 0.1);
  turns.ask('a', 100);
  const begun = await turns.begun();
  expect(begun.length).toBeGreaterThanOrEqual(4 * maxMsPerTurn - 1);
  expect(begun.length).toBeLessThanOrEqual(4 * maxMsPerTurn + 1);
});

test('who has left is not begun, and takes no turn from others', async () => {
  const turns = startTurns();
  turns.ask('flood', maxMsPerTurn);
  const leaves = Array.from({ length: 1_000 }, () => turns.wait('flood', () => expect.fail('It has left.')));
  turns.ask('other');
  for (const leave of leaves) leave();
  await turns.begun();
  turns.endTurn();
  expect(await turns.begun()).toEqual(['other']);
});

test('after a new connection others are accepted first, but not for ever', async () => {
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
