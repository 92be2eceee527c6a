import { expect, test } from 'vitest';
import { createFairTurns, maxBegunPerTurn } from '../../../src/service/http/fair-turns.ts';

/** Turns of the event loop, which the test ends itself. */
function startTurns() {
  let ends: (() => void)[] = [];
  const begun: string[] = [];
  const take = createFairTurns((work) => ends.push(work));
  return {
    ask(tokenId: string, count = 1): void {
      for (let index = 0; index < count; index += 1) void take(tokenId).then(() => begun.push(tokenId));
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

const times = (count: number, tokenId: string): string[] => Array.from({ length: count }, () => tokenId);

test('whoever asks for one thing is next, however much another has asked for before', async () => {
  const turns = startTurns();
  turns.ask('flood', 1_000);
  expect(await turns.begun()).toEqual(times(maxBegunPerTurn, 'flood'));
  turns.ask('other');
  turns.endTurn();
  expect(await turns.begun()).toEqual(['flood', 'other', ...times(maxBegunPerTurn - 2, 'flood')]);
});

test('tokens that all ask much have their turns one after the other', async () => {
  const turns = startTurns();
  turns.ask('a', 100);
  await turns.begun();
  turns.ask('b', 100);
  turns.ask('c', 100);
  turns.endTurn();
  expect(await turns.begun()).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b']);
});

test('everything that is asked is begun, a few in each turn, and then nothing is left to do', async () => {
  const turns = startTurns();
  turns.ask('a', 3 * maxBegunPerTurn);
  for (let turn = 0; turn < 3; turn += 1) {
    expect(await turns.begun()).toEqual(times(maxBegunPerTurn, 'a'));
    turns.endTurn();
  }
  turns.endTurn();
  expect(turns.isIdle()).toBe(true);
  turns.ask('b');
  expect(await turns.begun()).toEqual(['b']);
});
