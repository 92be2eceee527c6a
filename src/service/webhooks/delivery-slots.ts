export const slowAfterMs = 1_000;

export type DeliverySlots = ReturnType<typeof createDeliverySlots>;

/**
 * Limits parallel attempts. An attempt has a slot for its first second: a longer one returns its slot and continues, so
 * that a silent receiver delays others for a second and not for the time limit of an attempt. The number of attempts
 * without a slot is limited as well, because each uses a connection.
 */
export const maxSlots = 16;

/**
 * The remaining slots are for workspaces that have fewer. If several have due deliveries, their shares become equal.
 */
export const maxSlotsPerWorkspace = 12;

/** Attempts with and without a slot. */
export const maxUnderWay = maxSlots + 256;
export const maxUnderWayPerWorkspace = 32;

/** Attempts for hooks that are not known to be quick. The rest is reserved for quick hooks. */
export const maxUnansweredPerWorkspace = 16;

/**
 * Three quarters of the limits per workspace. The hooks of a workspace often share one origin, such as a gateway or a
 * chat service: if it hangs completely, the hooks to other origins still have room.
 */
export const maxUnansweredPerReceiver = 12;
export const maxUnderWayPerReceiver = 24;

/** Attempts for a hook whose last attempt took less than a second. Any other hook gets one attempt at a time. */
export const maxPerHook = 4;

/** A hook with due deliveries. */
export interface DueHook {
  readonly id: string;
  readonly workspace: string;
  /** Origin of the URL: hooks of a workspace with the same origin have the same receiver. */
  readonly origin: string;
  /** Time when its oldest due delivery became due. */
  readonly since: number;
}

/** A running attempt. Its events update the counts. */
export interface AttemptUnderWay {
  /** Called after a second. */
  becameSlow(): void;
  /** Called before `ended` if the delivery was not accepted. */
  failed(): void;
  ended(): void;
}

interface Use {
  readonly underWay: number;
  /** Number of these with a slot, and for hooks that are not known to be quick. */
  readonly slots: number;
  readonly unanswered: number;
}

const unused: Use = { underWay: 0, slots: 0, unanswered: 0 };

/**
 * Shares the attempts of this instance between workspaces, and those of a workspace between its hooks. Each hook is
 * slow or failing on its own: hooks with the same origin share only the limit of attempts, because one URL that hangs
 * says nothing about the others on a gateway.
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
  /** Position of each one's last attempt in the sequence of all attempts. */
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

  /** Whether any attempt may start. */
  const hasRoom = (): boolean => {
    const { slots, underWay } = all.get('all') ?? unused;
    return slots < maxSlots && underWay < maxUnderWay;
  };

  return {
    hasRoom,

    /** The next hook to serve. Undefined if all hooks with due deliveries have reached their limits. */
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

/**
 * Pause of a hook after consecutive failed attempts. Without it, a hook that fails at once would be tried continuously.
 */
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

/** Separate per workspace, so that one workspace cannot use up the share of another one for the same origin. */
const receiverOf = ({ workspace, origin }: DueHook): string => `${workspace} ${origin}`;

/** Maximum number of workspaces and of hooks in memory. The least recently used is dropped first. */
const maxRemembered = 10_000;

function remember<Value>(memory: Map<string, Value>, key: string, value: Value): void {
  memory.delete(key);
  memory.set(key, value);
  if (memory.size <= maxRemembered) return;
  const [oldest] = memory.keys();
  if (oldest !== undefined) memory.delete(oldest);
}
