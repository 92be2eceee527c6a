/**
 * Which attempts an instance may have under way. A slot is for the first second of an attempt: one that takes longer
 * gives its slot back and goes on, so that a receiver that does not answer costs the others a second and not the time
 * limit of an attempt. How many go on is bounded as well, because each holds a connection.
 */
export const maxSlots = 16;

/** The last slots are for workspaces that have fewer. Where several have something due, their shares become equal. */
export const maxSlotsPerWorkspace = 12;

export const slowAfterMs = 1_000;

/** In slots and beyond them. */
export const maxUnderWay = maxSlots + 256;
export const maxUnderWayPerWorkspace = 32;

/** Of a workspace, to receivers that are not known to be quick: the others are left to those that are. */
export const maxUnprovenPerWorkspace = 16;

/** To a receiver that has answered within a second, for each of its hooks. Any other gets one attempt at a time. */
export const maxPerHook = 4;

/** How long a receiver is left alone after attempts in a row that failed. One that fails at once would be asked all the time. */
export const restMs = (failures: number): number => Math.min(1_000, 25 * 2 ** Math.min(failures, 10));

/** How many workspaces, hooks and receivers are remembered; the least recently used is forgotten first. */
const maxRemembered = 10_000;

/** A hook for which something is due. */
export interface DueHook {
  readonly id: string;
  readonly workspace: string;
  /** Of its url: hooks of a workspace to the same origin have the same receiver. */
  readonly origin: string;
  /** When its oldest due delivery became due. */
  readonly since: number;
}

/** An attempt that is counted. */
export interface AttemptUnderWay {
  /** It has been under way for longer than a second. */
  becameSlow(): void;
  /** The receiver does not take what it is sent. Called before the end. */
  failed(): void;
  ended(): void;
}

interface Use {
  readonly underWay: number;
  /** Of those, how many still have a slot, and how many are to receivers that are not known to be quick. */
  readonly slots: number;
  readonly unproven: number;
}

const unused: Use = { underWay: 0, slots: 0, unproven: 0 };

function change(uses: Map<string, Use>, key: string, by: Partial<Use>): void {
  const { underWay, slots, unproven } = uses.get(key) ?? unused;
  const use: Use = {
    underWay: underWay + (by.underWay ?? 0),
    slots: slots + (by.slots ?? 0),
    unproven: unproven + (by.unproven ?? 0),
  };
  if (use.underWay === 0) uses.delete(key);
  else uses.set(key, use);
}

/** By workspace too: what one workspace makes of an address says nothing about the hooks of another. */
const receiverOf = ({ workspace, origin }: DueHook): string => `${workspace} ${origin}`;

/** Shares the attempts of this instance between workspaces, and those of a workspace between its receivers. */
export function createDeliverySlots(now: () => number = () => performance.now()) {
  const workspaces = new Map<string, Use>();
  const receivers = new Map<string, Use>();
  const hooks = new Map<string, Use>();
  const all = new Map<'all', Use>();
  /** Receivers that took less than a second the last time. */
  const quick = new Map<string, true>();
  /** Receivers whose last attempt failed. */
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();
  /** When each had its last attempt, by the number of attempts before it. */
  const workspaceTurns = new Map<string, number>();
  const hookTurns = new Map<string, number>();
  let turn = 0;

  const mayBegin = (hook: DueHook): boolean => {
    const receiver = receiverOf(hook);
    if (now() < (failing.get(receiver)?.until ?? 0)) return false;
    const { underWay, unproven } = receivers.get(receiver) ?? unused;
    if (quick.has(receiver) && unproven === 0) return (hooks.get(hook.id) ?? unused).underWay < maxPerHook;
    return underWay === 0 && (workspaces.get(hook.workspace) ?? unused).unproven < maxUnprovenPerWorkspace;
  };

  /** Whether an attempt may begin at all, whatever is due. */
  const hasRoom = (): boolean => {
    const { slots, underWay } = all.get('all') ?? unused;
    return slots < maxSlots && underWay < maxUnderWay;
  };

  return {
    hasRoom,

    /** The hook whose turn it is; undefined where every one that is due has its share. */
    next(due: Iterable<DueHook>): DueHook | undefined {
      if (!hasRoom()) return undefined;
      const inTurn = [...Map.groupBy(due, ({ workspace }) => workspace)]
        .map(([id, dueHooks]) => ({
          dueHooks,
          use: workspaces.get(id) ?? unused,
          turn: workspaceTurns.get(id) ?? -1,
        }))
        .filter(({ use }) => use.slots < maxSlotsPerWorkspace && use.underWay < maxUnderWayPerWorkspace)
        .sort((a, b) => a.use.slots - b.use.slots || a.turn - b.turn);
      for (const { dueHooks } of inTurn) {
        const [first] = dueHooks
          .filter(mayBegin)
          .map((hook) => ({ hook, use: hooks.get(hook.id) ?? unused, turn: hookTurns.get(hook.id) ?? -1 }))
          .sort((a, b) => a.use.underWay - b.use.underWay || a.turn - b.turn || a.hook.since - b.hook.since);
        if (first !== undefined) return first.hook;
      }
      return undefined;
    },

    begin(hook: DueHook): AttemptUnderWay {
      const receiver = receiverOf(hook);
      let unproven = quick.has(receiver) ? 0 : 1;
      let slots = 1;
      let hasFailed = false;

      function count(by: Partial<Use>): void {
        change(workspaces, hook.workspace, by);
        change(receivers, receiver, by);
        change(hooks, hook.id, by);
        change(all, 'all', by);
      }

      count({ underWay: 1, slots, unproven });
      turn += 1;
      remember(workspaceTurns, hook.workspace, turn);
      remember(hookTurns, hook.id, turn);
      return {
        becameSlow() {
          count({ slots: -slots, unproven: 1 - unproven });
          slots = 0;
          unproven = 1;
          quick.delete(receiver);
        },
        failed() {
          hasFailed = true;
          const failures = (failing.get(receiver)?.failures ?? 0) + 1;
          remember(failing, receiver, { failures, until: now() + restMs(failures) });
          quick.delete(receiver);
        },
        ended() {
          count({ underWay: -1, slots: -slots, unproven: -unproven });
          if (hasFailed) return;
          failing.delete(receiver);
          const isSlow = slots === 0 || (receivers.get(receiver) ?? unused).unproven > 0;
          if (!isSlow) remember(quick, receiver, true);
        },
      };
    },
  };
}

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= maxRemembered) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
