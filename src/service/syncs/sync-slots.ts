/** Which workspaces an instance syncs at the moment, and so what it may begin next. */
export interface SyncSlots {
  /** `claim` takes the next sync that is of none of these workspaces. */
  claim<Sync extends { readonly workspace: string }>(
    claim: (except: readonly string[]) => Promise<Sync | undefined>,
  ): Promise<Sync | undefined>;
  free(workspace: string): void;
}

/** Half of the slots are for one workspace. With a single slot there is nothing to share. */
const shareOf = (slots: number): number => Math.max(1, Math.floor(slots / 2));

/** What one workspace has beyond its share does not count, see below. */
export const maxParallelSyncs = (slots: number): number => 2 * slots - shareOf(slots);

/**
 * A workspace gets more than its share only where no other waits, and what it has beyond it does not count against those
 * that come later: a remote that keeps its syncs going for as long as they may keeps no other workspace waiting.
 */
export function createSyncSlots(slots: number): SyncSlots {
  const share = shareOf(slots);
  const running = new Map<string, number>();
  const sum = (counts: Iterable<number>): number => [...counts].reduce((total, count) => total + count, 0);

  return {
    async claim(claim) {
      const counted = [...running.values()].map((count) => Math.min(count, share));
      if (sum(counted) >= slots) return undefined;
      const full = [...running].flatMap(([workspace, count]) => (count >= share ? [workspace] : []));
      const ofOthers = await claim(full);
      const isAllTaken = sum(running.values()) >= slots;
      const sync = ofOthers ?? (full.length === 0 || isAllTaken ? undefined : await claim([]));
      if (sync !== undefined) running.set(sync.workspace, (running.get(sync.workspace) ?? 0) + 1);
      return sync;
    },
    free(workspace) {
      const left = (running.get(workspace) ?? 1) - 1;
      if (left === 0) running.delete(workspace);
      else running.set(workspace, left);
    },
  };
}
