export const slowAfterMs = 1_000;

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

/**
 * Limits the attempts under way. A slot is for the first second of an attempt: a longer one returns its slot and goes on,
 * so that a silent receiver costs others a second and not the time limit of an attempt. The number of these is limited as
 * well, because each holds a connection.
 */
export const maxSlots = 16;

/** The last slots are for workspaces that have fewer. Where several have something due, their shares become equal. */
export const maxSlotsPerWorkspace = 12;

/** In slots and beyond them. */
export const maxUnderWay = maxSlots + 256;
export const maxUnderWayPerWorkspace = 32;

/** For hooks of a workspace that are not known to be quick. The rest is reserved for quick hooks. */
export const maxUnansweredPerWorkspace = 16;

/**
 * Three quarters of the above. The hooks of a workspace often share one origin, such as a gateway or a chat service: if all of
 * it hangs, the hooks to other origins still have room.
 */
export const maxUnansweredPerReceiver = 12;
export const maxUnderWayPerReceiver = 24;

/** For a hook whose last attempt took less than a second. Any other hook gets one attempt at a time. */
export const maxPerHook = 4;

/** A hook for which something is due. */
export interface DueHook {
  readonly id: string;
  readonly workspace: string;
  /** Origin of the URL: hooks of a workspace with the same origin have the same receiver. */
  readonly origin: string;
  /** When its oldest due delivery became due. */
  readonly since: number;
}

/** An attempt that is counted. */
export interface AttemptUnderWay {
  /** It has been under way for longer than a second. */
  becameSlow(): void;
  /** The delivery was not accepted. Called before the end. */
  failed(): void;
  ended(): void;
}

interface Use {
  readonly underWay: number;
  /** The part with a slot, and the part for hooks that are not known to be quick. */
  readonly slots: number;
  readonly unanswered: number;
}

const unused: Use = { underWay: 0, slots: 0, unanswered: 0 };

/**
 * Shares the attempts of this instance between workspaces, and those of a workspace between its hooks. A hook is slow or
 * failing by itself: others to the same origin share only the number of attempts, because one URL that hangs says nothing
 * about the rest of a gateway.
 */
export function createDeliverySlots(now: () => number = () => performance.now()) {
  const workspaces = new Map<string, Use>();
  const receivers = new Map<string, Use>();
  const hooks = new Map<string, Use>();
  const all = new Map<'all', Use>();
  /** Hooks whose last attempt took less than a second. */
  const quick = new Map<string, true>();
  /** Hooks whose last attempt failed. */
  const failing = new Map<string, { readonly failures: number; readonly until: number }>();
  /** When each had its last attempt, by the number of attempts before it. */
  const workspaceTurns = new Map<string, number>();
  const hookTurns = new Map<string, number>();
  let turn = 0;

  const mayBegin = (hook: DueHook): boolean => {
    if (now() < (failing.get(hook.id)?.until ?? 0)) return false;
    const { underWay } = hooks.get(hook.id) ?? unused;
    const receiver = receivers.get(receiverOf(hook)) ?? unused;
    if (receiver.underWay >= maxUnderWayPerReceiver) return false;
    if (quick.has(hook.id)) return underWay < maxPerHook;
    const { unanswered } = workspaces.get(hook.workspace) ?? unused;
    return underWay === 0 && unanswered < maxUnansweredPerWorkspace && receiver.unanswered < maxUnansweredPerReceiver;
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
      const candidates = [...Map.groupBy(due, ({ workspace }) => workspace)]
        .map(([id, dueHooks]) => ({
          dueHooks,
          use: workspaces.get(id) ?? unused,
          turn: workspaceTurns.get(id) ?? -1,
        }))
        .filter(({ use }) => use.slots < maxSlotsPerWorkspace && use.underWay < maxUnderWayPerWorkspace)
        .sort((a, b) => a.use.slots - b.use.slots || a.turn - b.turn);
      for (const { dueHooks } of candidates) {
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
      let unanswered = quick.has(hook.id) ? 0 : 1;
      let slots = 1;
      let hasFailed = false;

      function count(by: Partial<Use>): void {
        change(workspaces, hook.workspace, by);
        change(receivers, receiver, by);
        change(hooks, hook.id, by);
        change(all, 'all', by);
      }

      count({ underWay: 1, slots, unanswered });
      turn += 1;
      remember(workspaceTurns, hook.workspace, turn);
      remember(hookTurns, hook.id, turn);
      return {
        becameSlow() {
          count({ slots: -slots, unanswered: 1 - unanswered });
          slots = 0;
          unanswered = 1;
          quick.delete(hook.id);
        },
        failed() {
          hasFailed = true;
          const failures = (failing.get(hook.id)?.failures ?? 0) + 1;
          remember(failing, hook.id, { failures, until: now() + restMs(failures) });
          quick.delete(hook.id);
        },
        ended() {
          count({ underWay: -1, slots: -slots, unanswered: -unanswered });
          if (hasFailed) return;
          failing.delete(hook.id);
          const isSlow = slots === 0 || (hooks.get(hook.id) ?? unused).unanswered > 0;
          if (!isSlow) remember(quick, hook.id, true);
        },
      };
    },
  };
}

/** How long a hook rests after failed attempts in a row. Without a rest, one that fails at once would be tried all the time. */
export const restMs = (failures: number): number => Math.min(1_000, 25 * 2 ** Math.min(failures, 10));

function change(uses: Map<string, Use>, key: string, by: Partial<Use>): void {
  const { underWay, slots, unanswered } = uses.get(key) ?? unused;
  const use: Use = {
    underWay: underWay + (by.underWay ?? 0),
    slots: slots + (by.slots ?? 0),
    unanswered: unanswered + (by.unanswered ?? 0),
  };
  if (use.underWay === 0) uses.delete(key);
  else uses.set(key, use);
}

/** By workspace too, so that one workspace cannot use up the share that another has of the same origin. */
const receiverOf = ({ workspace, origin }: DueHook): string => `${workspace} ${origin}`;

/** How many workspaces and hooks are remembered; the least recently used is forgotten first. */
const maxRemembered = 10_000;

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= maxRemembered) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
