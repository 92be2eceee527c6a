import type { Logger } from 'pino';
import type { Git } from '../git/git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { createOnce } from '../runtime/once.ts';

const timeoutMs = 10 * 60_000;

export interface MirrorMaintenanceOptions {
  readonly git: Pick<Git, 'maintain'>;
  readonly log: Logger;
  /** How many mirrors at the same time. */
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/** Keeps mirrors quick after syncs, next to those that run: it takes minutes where a lot was fetched. */
export function createMirrorMaintenance({ git, log, parallel, signal }: MirrorMaintenanceOptions) {
  const limitMaintenance = limitParallel({ max: parallel, maxPerKey: 1 });
  const once = createOnce<void>();
  const unfinished = new Set<Promise<void>>();

  async function maintain(workspace: string): Promise<void> {
    try {
      if (!signal.aborted) await git.maintain(workspace, { timeoutMs, signal });
    } catch (error) {
      if (!signal.aborted) log.warn({ workspace, err: error }, 'mirror maintenance failed');
    }
  }

  return {
    /** Once for all who ask until it begins. */
    soon(workspace: string): void {
      const done = once(workspace, (begun) =>
        limitMaintenance(workspace, () => {
          begun();
          return maintain(workspace);
        }),
      ).finally(() => unfinished.delete(done));
      unfinished.add(done);
    },
    /** Waits for the processes that the signal ends. */
    async stop(): Promise<void> {
      await Promise.all(unfinished);
    },
  };
}
