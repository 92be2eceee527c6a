import type { Logger } from 'pino';
import type { Git } from '../git/git.ts';
import { limitParallel } from '../runtime/limit-parallel.ts';
import { createOnce } from '../runtime/once.ts';

const timeoutMs = 10 * 60_000;

interface MirrorMaintenanceOptions {
  readonly git: Pick<Git, 'maintain'>;
  readonly log: Logger;
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/** Keeps mirrors fast after syncs. Runs alongside other syncs, because it takes minutes after a large fetch. */
export function createMirrorMaintenance({ git, log, parallel, signal }: MirrorMaintenanceOptions) {
  const limitMaintenance = limitParallel({ max: parallel, maxPerKey: 1 });
  const once = createOnce<void>();

  async function maintain(workspace: string, onStart: () => void): Promise<void> {
    onStart();
    try {
      if (!signal.aborted) await git.maintain(workspace, { timeoutMs, signal });
    } catch (error) {
      if (!signal.aborted) log.warn({ workspace, err: error }, 'mirror maintenance failed');
    }
  }

  return {
    /** Calls before the maintenance starts share one run. */
    schedule(workspace: string): void {
      void once(workspace, (onStart) => limitMaintenance(workspace, () => maintain(workspace, onStart)));
    },
    /** Waits for the processes that the signal aborts. */
    stop: once.ended,
  };
}
