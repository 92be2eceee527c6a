/** Which syncs an instance runs at the moment, and so which it may begin next. */
export interface SyncSlots<Sync extends { readonly workspace: string }> {
  /** `claim` takes the next sync that is of none of these workspaces. */
  claim(claim: (except: readonly string[]) => Promise<Sync | undefined>): Promise<Sync | undefined>;
  /** A quiet sync makes no progress, and leaves its slot to others until it does. */
  setQuiet(sync: Sync, isQuiet: boolean): void;
  free(sync: Sync): void;
}

/**
 * A workspace gets more than its share only while no other waits, and that part does not count against later ones. Quiet
 * syncs do not count either. So neither endless syncs of a remote nor several silent remotes keep another workspace
 * waiting.
 */
export function createSyncSlots<Sync extends { readonly workspace: string }>(slots: number): SyncSlots<Sync> {
  const share = shareOf(slots);
  const running = new Set<Sync>();
  const quiet = new Set<Sync>();

  function byWorkspace(syncs: Iterable<Sync>): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { workspace } of syncs) counts.set(workspace, (counts.get(workspace) ?? 0) + 1);
    return counts;
  }

  function takenSlots(): number {
    const active = byWorkspace([...running].filter((sync) => !quiet.has(sync)));
    const beyond = Math.max(0, quiet.size - maxQuiet(slots));
    return [...active.values()].reduce((sum, count) => sum + Math.min(count, share), beyond);
  }

  return {
    async claim(claim) {
      if (takenSlots() >= slots || running.size >= maxParallelSyncs(slots)) return undefined;
      const full = [...byWorkspace(running)].flatMap(([workspace, count]) => (count >= share ? [workspace] : []));
      const ofOthers = await claim(full);
      const isAllTaken = running.size >= slots;
      const sync = ofOthers ?? (full.length === 0 || isAllTaken ? undefined : await claim([]));
      if (sync !== undefined) running.add(sync);
      return sync;
    },
    setQuiet(sync, isQuiet) {
      if (isQuiet && running.has(sync)) quiet.add(sync);
      else quiet.delete(sync);
    },
    free(sync) {
      running.delete(sync);
      quiet.delete(sync);
    },
  };
}

/** Neither quiet syncs nor those beyond the share of their workspace count, see below. */
export const maxParallelSyncs = (slots: number): number => 2 * slots - shareOf(slots) + maxQuiet(slots);

/** Each is a process that waits: more of them than this take slots again. */
export const maxQuiet = (slots: number): number => 4 * slots;

/** Half of the slots are for one workspace. With a single slot there is nothing to share. */
const shareOf = (slots: number): number => Math.max(1, Math.floor(slots / 2));
