import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  type AttemptUnderWay,
  createDeliverySlots,
  type DeliverySlots,
  type DueHook,
  maxPerHook,
  maxSlots,
  maxSlotsPerWorkspace,
  maxUnansweredPerReceiver,
  maxUnansweredPerWorkspace,
  maxUnderWay,
  maxUnderWayPerReceiver,
  maxUnderWayPerWorkspace,
  slowAfterMs,
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

interface Begun {
  readonly hook: DueHook;
  readonly attempt: AttemptUnderWay;
}

/** Starts all possible attempts. Each hook has more due deliveries, except for the hooks in `once`. */
function beginAll(slots: DeliverySlots, due: readonly DueHook[], once = new Set<DueHook>()): Begun[] {
  const begun: Begun[] = [];
  let left = due;
  for (let hook = slots.next(left); hook !== undefined; hook = slots.next(left)) {
    const next = hook;
    begun.push({ hook: next, attempt: slots.begin(next) });
    if (once.delete(next)) left = left.filter((other) => other !== next);
  }
  return begun;
}

function prove(slots: DeliverySlots, hooks: readonly DueHook[]): void {
  for (const hook of hooks) slots.begin(hook).ended();
}

const heldBy = (workspace: string, begun: readonly Begun[]): number =>
  begun.filter(({ hook }) => hook.workspace === workspace).length;

test('starts no attempt for a hook that became slow until all its attempts have ended, and then one', () => {
  const slots = createDeliverySlots();
  const due = [hookOf('game', 1)];
  prove(slots, due);
  const [slow, ...quick] = beginAll(slots, due);
  slow?.attempt.becameSlow();
  for (const { attempt } of quick) attempt.ended();
  expect(beginAll(slots, due)).toEqual([]);
  slow?.attempt.ended();
  expect(beginAll(slots, due)).toHaveLength(1);
});

test('lets a failing hook rest longer each time, up to a second, until a delivery succeeds', () => {
  let now = 0;
  const slots = createDeliverySlots(() => now);
  const due = [hookOf('game', 1)];
  prove(slots, due);
  function restAfterFailure(): number {
    const attempt = slots.begin(hookOf('game', 1));
    attempt.failed();
    attempt.ended();
    const failedAt = now;
    expect(slots.next([...due, hookOf('game', 2)])).toEqual(hookOf('game', 2));
    while (slots.next(due) === undefined && now < failedAt + 10_000) now += 1;
    return now - failedAt;
  }
  expect(Array.from({ length: 7 }, restAfterFailure)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  prove(slots, due);
  expect(restAfterFailure()).toBe(50);
  prove(slots, due);
  expect(beginAll(slots, due)).toHaveLength(maxPerHook);
});

test('starts attempts for the other hooks to an origin while one hook to it hangs or rests after a failure', () => {
  const slots = createDeliverySlots(() => 0);
  const due = hooksOfOneOrigin('game', 4);
  prove(slots, due.slice(0, 1));
  for (const hook of due.slice(1, 2)) slots.begin(hook).becameSlow();
  for (const hook of due.slice(2, 3)) {
    const attempt = slots.begin(hook);
    attempt.failed();
    attempt.ended();
  }
  const begun = Map.groupBy(beginAll(slots, due), ({ hook }) => hook);
  expect(due.map((hook) => begun.get(hook)?.length ?? 0)).toEqual([maxPerHook, 0, 0, 1]);
});

test('limits unanswered attempts to one origin, and leaves room for the other origins of its workspace', () => {
  const slots = createDeliverySlots();
  const silent = hooksOfOneOrigin('game', 100);
  expect(allBecomeSlow(slots, silent)).toBe(maxUnansweredPerReceiver);
  const elsewhere = hookOf('game', 1_000);
  expect(slots.next([...silent, elsewhere])).toBe(elsewhere);
});

test('limits attempts to one origin if quick hooks become slow, and counts them for its own workspace only', () => {
  const slots = createDeliverySlots();
  const [game, film] = [hooksOfOneOrigin('game', 100), hooksOfOneOrigin('film', 100)];
  const elsewhere = hookOf('game', 1_000);
  prove(slots, [...game, elsewhere]);
  expect(allBecomeSlow(slots, game)).toBe(maxUnderWayPerReceiver);
  expect(allBecomeSlow(slots, film)).toBe(maxUnansweredPerReceiver);
  expect(slots.next([...game, elsewhere])).toBe(elsewhere);
});

test('the last slots go to workspaces that hold fewer', () => {
  const slots = createDeliverySlots();
  const [many, few] = [hooksOf('many', 100), hooksOf('few', 100)];
  expect(beginAll(slots, many)).toHaveLength(maxSlotsPerWorkspace);
  expect(heldBy('few', beginAll(slots, [...many, ...few]))).toBe(maxSlots - maxSlotsPerWorkspace);
});

/** Starts attempts until none may start. Each attempt becomes slow, unless `onBegun` reports that it has ended. */
function allBecomeSlow(slots: DeliverySlots, due: readonly DueHook[], onBegun = (_: Begun): boolean => false): number {
  let slow = 0;
  for (let begun = beginAll(slots, due); begun.length > 0; begun = beginAll(slots, due)) {
    for (const each of begun) {
      if (onBegun(each)) return slow;
      slow += 1;
      each.attempt.becameSlow();
    }
  }
  return slow;
}

test('silent receivers do not delay quick ones in the same workspace', () => {
  const slots = createDeliverySlots();
  const quick = hookOf('game', 1_000, 1);
  prove(slots, [quick]);
  let hadItsTurn = false;
  const silent = allBecomeSlow(slots, [...hooksOf('game', 100), quick], ({ hook }) => {
    hadItsTurn = hook === quick;
    return hadItsTurn;
  });
  expect(hadItsTurn).toBe(true);
  expect(silent).toBeLessThanOrEqual(maxUnansweredPerWorkspace);
});

test('quick receivers that become slow take no more than the share of their workspace', () => {
  const slots = createDeliverySlots();
  const due = hooksOf('game', 100);
  prove(slots, due);
  expect(allBecomeSlow(slots, due)).toBe(maxUnderWayPerWorkspace);
});

test('an instance never exceeds its limit of connections, however many workspaces are slow', () => {
  const slots = createDeliverySlots();
  const due = Array.from({ length: 40 }, (_, workspace) => hooksOf(`w${workspace}`, 40)).flat();
  expect(allBecomeSlow(slots, due)).toBe(maxUnderWay);
  expect(slots.hasRoom()).toBe(false);
});

/** The duration of each attempt of a workspace, in turn. Each has more due deliveries than it can complete. */
const durations = fc.array(fc.integer({ min: 1, max: slowAfterMs - 1 }), { minLength: 1, maxLength: 20 });

test('workspaces with due deliveries always get equal shares of the slots, whatever their durations', () => {
  fc.assert(
    fc.property(fc.array(durations, { minLength: 2, maxLength: 24 }), (workspaces) => {
      const slots = createDeliverySlots();
      const due = workspaces.flatMap((_, index) => hooksOf(`w${index}`, maxSlots));
      prove(slots, due);
      const turns = new Map<string, number>();
      let underWay: (Begun & { readonly end: number })[] = [];
      for (let now = 0, step = 0; step < 100; step += 1) {
        for (const begun of beginAll(slots, due)) {
          const turn = turns.get(begun.hook.workspace) ?? 0;
          turns.set(begun.hook.workspace, turn + 1);
          const its = workspaces[Number(begun.hook.workspace.slice(1))] ?? [];
          underWay.push({ ...begun, end: now + (its[turn % its.length] ?? 1) });
        }
        expect(underWay).toHaveLength(maxSlots);
        const held = workspaces.map((_, index) => heldBy(`w${index}`, underWay));
        expect(Math.max(...held) - Math.min(...held), String(held)).toBeLessThanOrEqual(1);
        now = Math.min(...underWay.map(({ end }) => end));
        for (const { attempt, end } of underWay) if (end === now) attempt.ended();
        underWay = underWay.filter(({ end }) => end !== now);
      }
      // If there are more workspaces than slots, they take turns.
      const attempts = workspaces.map((_, index) => turns.get(`w${index}`) ?? 0);
      if (workspaces.length > maxSlots) expect(Math.min(...attempts)).toBeGreaterThan(0);
    }),
    { numRuns: runs(20, 1_000) },
  );
});

const hostileWorkspace = fc.record({
  receivers: fc.integer({ min: 1, max: 100 }),
  /** Durations up to the timeout of an attempt; some receivers pretend to be quick first. */
  takes: fc.array(fc.integer({ min: 1, max: 15_000 }), { minLength: 1, maxLength: 10 }),
});

test('a delivery of another workspace starts within about a second, whatever the receivers of some do', () => {
  fc.assert(
    fc.property(
      fc.array(hostileWorkspace, { minLength: 1, maxLength: 6 }),
      fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 4 }),
      (hostile, moments) => {
        const slots = createDeliverySlots();
        const always = hostile.flatMap(({ receivers }, index) => hooksOf(`h${index}`, receivers));
        const awaited = new Set(moments.map((at, index) => hookOf(`w${index}`, 1, at)));
        const turns = new Map<string, number>();
        const events: { readonly at: number; readonly happen: () => void }[] = [];
        for (let now = 0; awaited.size > 0; now = Math.min(...events.map(({ at }) => at), now + 100)) {
          for (const event of events.filter(({ at }) => at <= now)) {
            events.splice(events.indexOf(event), 1);
            event.happen();
          }
          const due = [...always, ...[...awaited].filter(({ since }) => since <= now)];
          for (const { hook, attempt } of beginAll(slots, due, awaited)) {
            if (hook.workspace.startsWith('w')) {
              // 100 ms is the step of this simulation.
              expect(now - hook.since).toBeLessThanOrEqual(slowAfterMs + 100);
              events.push({ at: now + 50, happen: attempt.ended });
              continue;
            }
            const turn = turns.get(hook.id) ?? 0;
            turns.set(hook.id, turn + 1);
            const its = hostile[Number(hook.workspace.slice(1))]?.takes ?? [];
            const takes = its[turn % its.length] ?? 1;
            if (takes > slowAfterMs) events.push({ at: now + slowAfterMs, happen: attempt.becameSlow });
            events.push({ at: now + takes, happen: attempt.ended });
          }
        }
      },
    ),
    { numRuns: runs(15, 1_000) },
  );
});
