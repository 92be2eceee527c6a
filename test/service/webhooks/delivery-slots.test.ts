import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  createDeliverySlots,
  type DueHook,
  maxParallelAttempts,
  maxPerHook,
  maxPerReceiver,
  maxPerWorkspace,
  maxUnprovenPerReceiver,
  maxUnprovenPerWorkspace,
  quickMs,
} from '../../../src/service/webhooks/delivery-slots.ts';
import { runs } from '../../support/runs.ts';

const hookOf = (workspace: string, receiver: number, since = 0): DueHook => ({
  id: `${workspace}-${receiver}`,
  workspace,
  origin: `https://r${receiver}.example.com`,
  since,
});

const hooksOf = (workspace: string, receivers: number): DueHook[] =>
  Array.from({ length: receivers }, (_, receiver) => hookOf(workspace, receiver));

const hooksOfOneOrigin = (workspace: string, hooks: number): DueHook[] =>
  hooksOf(workspace, hooks).map((hook) => ({ ...hook, origin: 'https://gateway.example.com' }));

type DeliverySlots = ReturnType<typeof createDeliverySlots>;

interface Begun {
  readonly hook: DueHook;
  readonly end: ReturnType<DeliverySlots['start']>;
}

/** Starts all possible attempts. Each hook has more due deliveries, except for the hooks in `once`. */
function beginAll(slots: DeliverySlots, due: readonly DueHook[], once = new Set<DueHook>()): Begun[] {
  const begun: Begun[] = [];
  let left = due;
  for (let hook = slots.next(left); hook !== undefined; hook = slots.next(left)) {
    const next = hook;
    begun.push({ hook: next, end: slots.start(next) });
    if (once.delete(next)) left = left.filter((other) => other !== next);
  }
  return begun;
}

function prove(slots: DeliverySlots, hooks: readonly DueHook[]): void {
  for (const hook of hooks) slots.start(hook)(false);
}

const heldBy = (workspace: string, begun: readonly Begun[]): number =>
  begun.filter(({ hook }) => hook.workspace === workspace).length;

test('makes several attempts at a time for a quick hook, and one for a hook whose last attempt took a second', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  const [first, ...others] = beginAll(slots, due);
  expect(others).toEqual([]);
  now += quickMs - 1;
  first?.end(false);
  const quick = beginAll(slots, due);
  expect(quick).toHaveLength(maxPerHook);
  now += quickMs;
  for (const { end } of quick) end(false);
  expect(beginAll(slots, due)).toHaveLength(1);
});

test('makes no further attempt for a quick hook while one has taken a second', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  prove(slots, due);
  const endHanging = slots.start(hookOf('game', 1));
  now += quickMs - 1;
  const quick = beginAll(slots, due);
  expect(quick).toHaveLength(maxPerHook - 1);
  now += 1;
  for (const { end } of quick) end(false);
  expect(beginAll(slots, due)).toEqual([]);
  endHanging(false);
  expect(beginAll(slots, due)).toHaveLength(1);
});

test('pauses a failing hook longer each time, up to a second, until a delivery succeeds', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  prove(slots, due);
  function restAfterFailure(): number {
    slots.start(hookOf('game', 1))(true);
    const failedAt = now;
    expect(slots.next([...due, hookOf('game', 2)])).toEqual(hookOf('game', 2));
    while (slots.next(due) === undefined && now < failedAt + 10_000) now += 1;
    return now - failedAt;
  }
  expect(Array.from({ length: 7 }, restAfterFailure)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  const retried = beginAll(slots, due);
  expect(retried).toHaveLength(1);
  for (const { end } of retried) end(false);
  expect(restAfterFailure()).toBe(50);
});

test('starts attempts for the other hooks to an origin while one hook to it hangs or is paused after a failure', () => {
  const slots = createDeliverySlots(() => 0);
  const due = hooksOfOneOrigin('game', 4);
  const [quick, hanging, failing] = due;
  if (quick === undefined || hanging === undefined || failing === undefined) throw new Error('There are four.');
  prove(slots, [quick]);
  slots.start(hanging);
  slots.start(failing)(true);
  const begun = Map.groupBy(beginAll(slots, due), ({ hook }) => hook);
  expect(due.map((hook) => begun.get(hook)?.length ?? 0)).toEqual([maxPerHook, 0, 0, 1]);
});

test('limits attempts to unproven hooks of one origin, and leaves room for the other origins of its workspace', () => {
  const slots = createDeliverySlots();
  const silent = hooksOfOneOrigin('game', 100);
  expect(beginAll(slots, silent)).toHaveLength(maxUnprovenPerReceiver);
  const elsewhere = hookOf('game', 1_000);
  expect(slots.next([...silent, elsewhere])).toBe(elsewhere);
});

test('limits attempts to one origin if quick hooks hang, and counts them for its own workspace only', () => {
  const slots = createDeliverySlots();
  const [game, film] = [hooksOfOneOrigin('game', 100), hooksOfOneOrigin('film', 100)];
  const elsewhere = hookOf('game', 1_000);
  prove(slots, [...game, elsewhere]);
  expect(beginAll(slots, game)).toHaveLength(maxPerReceiver);
  expect(beginAll(slots, film)).toHaveLength(maxUnprovenPerReceiver);
  expect(slots.next([...game, elsewhere])).toBe(elsewhere);
});

test('silent receivers do not delay quick ones in the same workspace', () => {
  const slots = createDeliverySlots();
  const [silent, quick] = [hooksOf('game', 100), hookOf('game', 1_000)];
  prove(slots, [quick]);
  expect(beginAll(slots, silent)).toHaveLength(maxUnprovenPerWorkspace);
  expect(beginAll(slots, [...silent, quick])).toHaveLength(maxPerHook);
});

test('quick receivers that hang take no more than the share of their workspace', () => {
  const slots = createDeliverySlots();
  const due = hooksOf('game', 100);
  prove(slots, due);
  expect(beginAll(slots, due)).toHaveLength(maxPerWorkspace);
  expect(slots.next([...due, hookOf('film', 1)])).toEqual(hookOf('film', 1));
});

test('quick hooks that hang count as unproven after a second, and leave room for quick ones', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const [hanging, quick] = [hooksOf('game', maxUnprovenPerWorkspace), hookOf('game', 1_000)];
  prove(slots, [...hanging, quick]);
  for (let event = 0; event < 15; event += 1) {
    beginAll(slots, hanging, new Set(hanging));
    now += quickMs;
  }
  expect(slots.next([...hanging, hookOf('game', 1_001)])).toBeUndefined();
  expect(beginAll(slots, [...hanging, quick])).toHaveLength(maxPerHook);
});

test('an instance never exceeds its limit of connections, however many workspaces are slow', () => {
  const slots = createDeliverySlots();
  const due = Array.from({ length: 40 }, (_, workspace) => hooksOf(`w${workspace}`, 40)).flat();
  expect(beginAll(slots, due)).toHaveLength(maxParallelAttempts);
});

/** The duration of each attempt of a workspace, in turn. Each has more due deliveries than it can complete. */
const durations = fc.array(fc.integer({ min: 1, max: quickMs - 1 }), { minLength: 1, maxLength: 20 });

test('workspaces with due deliveries get equal shares of all attempts, whatever their durations', () => {
  fc.assert(
    fc.property(fc.array(durations, { minLength: 9, maxLength: 24 }), (workspaces) => {
      let now = 0;
      const slots = createDeliverySlots(() => now);
      const due = workspaces.flatMap((_, index) => hooksOf(`w${index}`, maxPerWorkspace / maxPerHook));
      prove(slots, due);
      const turns = new Map<string, number>();
      let running: (Begun & { readonly endsAt: number })[] = [];
      for (let step = 0; step < 50; step += 1) {
        for (const begun of beginAll(slots, due)) {
          const turn = turns.get(begun.hook.workspace) ?? 0;
          turns.set(begun.hook.workspace, turn + 1);
          const its = workspaces[Number(begun.hook.workspace.slice(1))] ?? [];
          running.push({ ...begun, endsAt: now + (its[turn % its.length] ?? 1) });
        }
        expect(running).toHaveLength(maxParallelAttempts);
        const held = workspaces.map((_, index) => heldBy(`w${index}`, running));
        expect(Math.max(...held) - Math.min(...held), String(held)).toBeLessThanOrEqual(1);
        now = Math.min(...running.map(({ endsAt }) => endsAt));
        for (const { end, endsAt } of running) if (endsAt === now) end(false);
        running = running.filter(({ endsAt }) => endsAt !== now);
      }
    }),
    { numRuns: runs(5, 200) },
  );
});

const manyWorkspaces = Array.from({ length: 300 }, (_, index) => hookOf(`w${index}`, 1));

test.each([
  ['hooks of a workspace', hooksOf('game', 100)],
  ['workspaces', manyWorkspaces],
])('%s take turns if they have more due deliveries than attempts', (_, due) => {
  const slots = createDeliverySlots();
  const served = new Set<string>();
  const running: Begun[] = [];
  for (let step = 0; step < 500; step += 1) {
    for (const begun of beginAll(slots, due)) {
      running.push(begun);
      served.add(begun.hook.id);
    }
    running.shift()?.end(false);
  }
  expect(due.filter(({ id }) => !served.has(id))).toEqual([]);
});
