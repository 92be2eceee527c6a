/**
 * Running syncs of an instance, which decide the next sync that it may start.
 *
 * A workspace gets more than its share only while no other workspace waits, and its syncs beyond the share do not count
 * as taken slots. Stalled syncs do not count either. So neither endless syncs of one remote nor several silent remotes
 * block another workspace.
 */
export function createSyncSlots<Sync extends { readonly workspace: string }>(slots: number) {
  const share = shareOf(slots);
  const running = new Set<Sync>();
  const stalled = new Set<Sync>();

  function byWorkspace(syncs: Iterable<Sync>): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { workspace } of syncs) counts.set(workspace, (counts.get(workspace) ?? 0) + 1);
    return counts;
  }

  function takenSlots(): number {
    const active = byWorkspace([...running].filter((sync) => !stalled.has(sync)));
    const beyond = Math.max(0, stalled.size - maxStalled(slots));
    return [...active.values()].reduce((sum, count) => sum + Math.min(count, share), beyond);
  }

  return {
    /** `claim` takes the next sync, but none of the workspaces in `except`. */
    async claim(claim: (except: readonly string[]) => Promise<Sync | undefined>): Promise<Sync | undefined> {
      if (takenSlots() >= slots || running.size >= maxParallelSyncs(slots)) return undefined;
      const full = [...byWorkspace(running)].flatMap(([workspace, count]) => (count >= share ? [workspace] : []));
      const otherSync = await claim(full);
      const isAllTaken = running.size >= slots;
      const sync = otherSync ?? (full.length === 0 || isAllTaken ? undefined : await claim([]));
      if (sync !== undefined) running.add(sync);
      return sync;
    },
    /** A stalled sync gives up its slot until it makes progress again. */
    setStalled(sync: Sync, isStalled: boolean): void {
      if (isStalled && running.has(sync)) stalled.add(sync);
      else stalled.delete(sync);
    },
    free(sync: Sync): void {
      running.delete(sync);
      stalled.delete(sync);
    },
  };
}

/** More than `slots`, because stalled syncs and syncs beyond the share of their workspace do not count. */
export const maxParallelSyncs = (slots: number): number => 2 * slots - shareOf(slots) + maxStalled(slots);

/** Stalled syncs beyond this number take slots again, because each is a waiting process. */
export const maxStalled = (slots: number): number => 4 * slots;

/** The share of one workspace is half of the slots, but at least one. */
const shareOf = (slots: number): number => Math.max(1, Math.floor(slots / 2));
