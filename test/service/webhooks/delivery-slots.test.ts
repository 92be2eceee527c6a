import { expect, onTestFinished, test, vi } from 'vitest';
import type { DueHook } from '../../../src/service/webhooks/delivery-queue.ts';
import {
  createDeliverySlots,
  maxParallelAttempts,
  maxPerHook,
  maxPerWorkspace,
} from '../../../src/service/webhooks/delivery-worker.ts';

const hookOf = (workspace: string, receiver: number, since = 0, isFailing = false): DueHook => ({
  id: `${workspace}-${receiver}`,
  workspace,
  since,
  isFailing,
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

test('makes several attempts at a time for a hook, and one while it fails', () => {
  expect(beginAll(createDeliverySlots(), [hookOf('game', 1)])).toHaveLength(maxPerHook);
  expect(beginAll(createDeliverySlots(), [hookOf('game', 1, 0, true)])).toHaveLength(1);
});

test('pauses a hook after a failed attempt, but no other hook, and not after a successful one', () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const slots = createDeliverySlots();
  const [hook, other] = [hookOf('game', 1), hookOf('game', 2)];
  slots.start(hook)(false);
  expect(slots.next([hook])).toBe(hook);
  slots.start(hook)(true);
  expect(slots.next([hook, other])).toBe(other);
  vi.advanceTimersByTime(249);
  expect(slots.next([hook])).toBeUndefined();
  vi.advanceTimersByTime(1);
  expect(slots.next([hook])).toBe(hook);
});

test('a workspace, and then a hook, with fewer attempts goes first, however long others have waited', () => {
  const slots = createDeliverySlots();
  const [busy, idle, elsewhere] = [hookOf('game', 1, 1), hookOf('game', 2, 2), hookOf('film', 1, 3)];
  slots.start(busy);
  expect(slots.next([busy, idle, elsewhere])).toEqual(elsewhere);
  expect(slots.next([busy, idle])).toEqual(idle);
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
