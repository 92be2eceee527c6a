/** Limits the parallel attempts of an instance, because each uses a connection. */
export const maxParallelAttempts = 256;
export const maxPerWorkspace = 32;
export const maxPerHook = 4;

export interface DueHook {
  readonly id: string;
  readonly workspace: string;
  /** Time when its oldest due delivery became due. */
  readonly since: number;
}

/** Shares the attempts of this instance between workspaces, and those of a workspace between its hooks. */
export function createDeliverySlots(now: () => number = () => performance.now()) {
  const running = new Set<DueHook>();
  const failing = new Map<string, { readonly failures: number; readonly pausedUntil: number }>();

  return {
    /** The next hook to serve. Undefined if all hooks with due deliveries have reached their limits. */
    next(due: Iterable<DueHook>): DueHook | undefined {
      if (running.size >= maxParallelAttempts) return undefined;
      const ofWorkspace = countBy(running, workspaceOf);
      const ofHook = countBy(running, ({ id }) => id);
      const [first] = [...due]
        .filter((hook) => {
          const failed = failing.get(hook.id);
          return (
            (failed === undefined || now() >= failed.pausedUntil) &&
            ofHook(hook) < (failed === undefined ? maxPerHook : 1) &&
            ofWorkspace(hook) < maxPerWorkspace
          );
        })
        .sort((a, b) => ofWorkspace(a) - ofWorkspace(b) || ofHook(a) - ofHook(b) || a.since - b.since);
      return first;
    },

    /** Returns a function to call when the attempt has ended. */
    start(hook: DueHook) {
      const attempt = { ...hook };
      running.add(attempt);
      return (hasFailed: boolean): void => {
        running.delete(attempt);
        const failures = hasFailed ? (failing.get(hook.id)?.failures ?? 0) + 1 : 0;
        if (failures === 0) failing.delete(hook.id);
        else failing.set(hook.id, { failures, pausedUntil: now() + pauseMs(failures) });
      };
    },
  };
}

/**
 * Pause of a hook after consecutive failed attempts. Without it, a hook that fails at once would be tried continuously.
 */
const pauseMs = (failures: number): number => Math.min(1_000, 25 * 2 ** Math.min(failures, 10));

function countBy(hooks: Iterable<DueHook>, keyOf: (hook: DueHook) => string): (hook: DueHook) => number {
  const groups = Map.groupBy(hooks, keyOf);
  return (hook) => groups.get(keyOf(hook))?.length ?? 0;
}

const workspaceOf = ({ workspace }: DueHook): string => workspace;
