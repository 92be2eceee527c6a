import { remember } from '../runtime/remember.ts';

/** Limits the parallel attempts of an instance, because each uses a connection. */
export const maxParallelAttempts = 256;
export const maxPerWorkspace = 32;

/** Attempts for hooks that are not known to be quick. The rest is reserved for quick hooks. */
export const maxUnprovenPerWorkspace = 16;

/**
 * Three quarters of the limits per workspace. The hooks of a workspace often share one origin, such as a gateway or a
 * chat service: if it hangs completely, the hooks to other origins still have room.
 */
export const maxPerReceiver = 24;
export const maxUnprovenPerReceiver = 12;

/**
 * Attempts for a quick hook: its last attempt took less than a second, and none in progress has taken longer. Any other
 * hook gets one attempt at a time.
 */
export const maxPerHook = 4;
export const quickMs = 1_000;

export interface DueHook {
  readonly id: string;
  readonly workspace: string;
  /** Origin of the URL: hooks of a workspace with the same origin have the same receiver. */
  readonly origin: string;
  /** Time when its oldest due delivery became due. */
  readonly since: number;
}

/** The last attempts of a hook. */
interface AttemptRecord {
  readonly turn: number;
  readonly isQuick: boolean;
  /** Number of consecutive failures. */
  readonly failures: number;
  readonly pausedUntil: number;
}

/** Maximum number of workspaces, and of hooks. */
const maxRemembered = 10_000;

const noAttempts: AttemptRecord = { turn: -1, isQuick: false, failures: 0, pausedUntil: 0 };

/**
 * Shares the attempts of this instance between workspaces, and those of a workspace between its hooks. Each hook is
 * slow or failing on its own: hooks with the same origin share only the limit of attempts, because one URL that hangs
 * says nothing about the others on a gateway.
 */
export function createDeliverySlots(now: () => number = () => performance.now()) {
  /** An attempt for a quick hook is proven for as long as it is quick itself. */
  const running = new Set<DueHook & { readonly provenUntil: number }>();
  const hooks = new Map<string, AttemptRecord>();
  /** Position of the last attempt of each workspace in the sequence of all attempts. */
  const workspaceTurns = new Map<string, number>();
  let turn = 0;

  const recordOf = ({ id }: DueHook): AttemptRecord => hooks.get(id) ?? noAttempts;

  return {
    /** The next hook to serve. Undefined if all hooks with due deliveries have reached their limits. */
    next(due: Iterable<DueHook>): DueHook | undefined {
      if (running.size >= maxParallelAttempts) return undefined;
      const all = countAttempts([...running]);
      const unproven = countAttempts([...running].filter(({ provenUntil }) => provenUntil <= now()));

      function mayStart(hook: DueHook): boolean {
        const { isQuick, pausedUntil } = recordOf(hook);
        const receiver = receiverOf(hook);
        if (now() < pausedUntil || all.ofReceiver(receiver) >= maxPerReceiver) return false;
        if (isQuick && unproven.ofHook(hook.id) === 0) return all.ofHook(hook.id) < maxPerHook;
        return (
          all.ofHook(hook.id) === 0 &&
          unproven.ofWorkspace(hook.workspace) < maxUnprovenPerWorkspace &&
          unproven.ofReceiver(receiver) < maxUnprovenPerReceiver
        );
      }
      const workspaces = [...Map.groupBy(due, workspaceOf)]
        .map(([id, hooks]) => ({ hooks, running: all.ofWorkspace(id), turn: workspaceTurns.get(id) ?? -1 }))
        .filter(({ running }) => running < maxPerWorkspace)
        .sort((a, b) => a.running - b.running || a.turn - b.turn);
      for (const { hooks } of workspaces) {
        const [first] = hooks
          .filter(mayStart)
          .map((hook) => ({ hook, running: all.ofHook(hook.id), turn: recordOf(hook).turn }))
          .sort((a, b) => a.running - b.running || a.turn - b.turn || a.hook.since - b.hook.since);
        if (first !== undefined) return first.hook;
      }
      return undefined;
    },

    /** Returns a function to call when the attempt has ended. */
    start(hook: DueHook) {
      const startedAt = now();
      const attempt = { ...hook, provenUntil: recordOf(hook).isQuick ? startedAt + quickMs : startedAt };
      running.add(attempt);
      turn += 1;
      remember(workspaceTurns, hook.workspace, turn, maxRemembered);
      remember(hooks, hook.id, { ...recordOf(hook), turn }, maxRemembered);
      return (hasFailed: boolean): void => {
        running.delete(attempt);
        const { turn, failures: before } = recordOf(hook);
        const failures = hasFailed ? before + 1 : 0;
        const isQuick = !hasFailed && now() - startedAt < quickMs;
        remember(hooks, hook.id, { turn, isQuick, failures, pausedUntil: now() + pauseMs(failures) }, maxRemembered);
      };
    },
  };
}

/**
 * Pause of a hook after consecutive failed attempts. Without it, a hook that fails at once would be tried continuously.
 */
const pauseMs = (failures: number): number => (failures === 0 ? 0 : Math.min(1_000, 25 * 2 ** Math.min(failures, 10)));

const countAttempts = (attempts: readonly DueHook[]) => ({
  ofWorkspace: countBy(attempts, workspaceOf),
  ofReceiver: countBy(attempts, receiverOf),
  ofHook: countBy(attempts, ({ id }) => id),
});

function countBy(hooks: readonly DueHook[], keyOf: (hook: DueHook) => string): (key: string) => number {
  const groups = Map.groupBy(hooks, keyOf);
  return (key) => groups.get(key)?.length ?? 0;
}

const workspaceOf = ({ workspace }: DueHook): string => workspace;

/** Separate per workspace, so that one workspace cannot use up the share of another one for the same origin. */
const receiverOf = ({ workspace, origin }: DueHook): string => `${workspace} ${origin}`;
