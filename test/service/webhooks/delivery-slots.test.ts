import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { DueHook } from '../../../src/service/webhooks/delivery-queue.ts';
import {
  createDeliverySlots,
  maxParallelAttempts,
  maxPerHook,
  maxPerWorkspace,
} from '../../../src/service/webhooks/delivery-worker.ts';
import { runs } from '../../support/runs.ts';

const hookOf = (workspace: string, receiver: number, since = 0): DueHook => ({
  id: `${workspace}-${receiver}`,
  workspace,
  since,
});

const hooksOf = (workspace: string, receivers: number): DueHook[] =>
  Array.from({ length: receivers }, (_, receiver) => hookOf(workspace, receiver));

type DeliverySlots = ReturnType<typeof createDeliverySlots>;

interface Begun {
  readonly hook: DueHook;
  readonly end: ReturnType<DeliverySlots['start']>;
}

/** Starts all possible attempts. Each hook has more due deliveries. */
function beginAll(slots: DeliverySlots, due: readonly DueHook[]): Begun[] {
  const begun: Begun[] = [];
  for (let hook = slots.next(due); hook !== undefined; hook = slots.next(due)) {
    begun.push({ hook, end: slots.start(hook) });
  }
  return begun;
}

const heldBy = (workspace: string, begun: readonly Begun[]): number =>
  begun.filter(({ hook }) => hook.workspace === workspace).length;

test('makes several attempts at a time for a hook, and one while it fails', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  const begun = beginAll(slots, due);
  expect(begun).toHaveLength(maxPerHook);
  for (const { end } of begun) end(true);
  now += 1_000;
  const [again, ...others] = beginAll(slots, due);
  expect(others).toEqual([]);
  again?.end(false);
  expect(beginAll(slots, due)).toHaveLength(maxPerHook);
});

test('pauses a failing hook longer each time, up to a second, until a delivery succeeds', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  function restAfterFailure(): number {
    slots.start(hookOf('game', 1))(true);
    const failedAt = now;
    expect(slots.next([...due, hookOf('game', 2)])).toEqual(hookOf('game', 2));
    while (slots.next(due) === undefined && now < failedAt + 10_000) now += 1;
    return now - failedAt;
  }
  expect(Array.from({ length: 7 }, restAfterFailure)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  slots.start(hookOf('game', 1))(false);
  expect(restAfterFailure()).toBe(50);
});

test('a paused hook does not delay other hooks', () => {
  const slots = createDeliverySlots(() => 0);
  const [failing, other] = hooksOf('game', 2);
  if (failing === undefined || other === undefined) throw new Error('There are two.');
  slots.start(failing)(true);
  expect(beginAll(slots, [failing, other]).map(({ hook }) => hook)).toEqual(Array(maxPerHook).fill(other));
});

test('receivers that hang take no more than the share of their workspace', () => {
  const slots = createDeliverySlots();
  const due = hooksOf('game', 100);
  expect(beginAll(slots, due)).toHaveLength(maxPerWorkspace);
  expect(slots.next([...due, hookOf('film', 1)])).toEqual(hookOf('film', 1));
});

test('an instance never exceeds its limit of connections, however many workspaces are slow', () => {
  const slots = createDeliverySlots();
  const due = Array.from({ length: 40 }, (_, workspace) => hooksOf(`w${workspace}`, 40)).flat();
  expect(beginAll(slots, due)).toHaveLength(maxParallelAttempts);
});

/** The duration of each attempt of a workspace, in turn. Each has more due deliveries than it can complete. */
const durations = fc.array(fc.integer({ min: 1, max: 999 }), { minLength: 1, maxLength: 20 });

test('workspaces with due deliveries get equal shares of all attempts, whatever their durations', () => {
  fc.assert(
    fc.property(fc.array(durations, { minLength: 9, maxLength: 24 }), (workspaces) => {
      let now = 0;
      const slots = createDeliverySlots(() => now);
      const due = workspaces.flatMap((_, index) => hooksOf(`w${index}`, maxPerWorkspace / maxPerHook));
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

test.each([
  ['hooks of a workspace', hooksOf('game', 100)],
  ['workspaces', Array.from({ length: 300 }, (_, index) => hookOf(`w${index}`, 1))],
])('%s take turns if they have more due deliveries than attempts', (_, hooks) => {
  const slots = createDeliverySlots();
  const due = new Map(hooks.map((hook) => [hook.id, hook]));
  const served = new Set<string>();
  const running: Begun[] = [];
  for (let step = 1; step <= 500; step += 1) {
    for (let hook = slots.next(due.values()); hook !== undefined; hook = slots.next(due.values())) {
      running.push({ hook, end: slots.start(hook) });
      served.add(hook.id);
      // Its next delivery became due later.
      due.set(hook.id, { ...hook, since: step });
    }
    running.shift()?.end(false);
  }
  expect(hooks.filter(({ id }) => !served.has(id))).toEqual([]);
});
