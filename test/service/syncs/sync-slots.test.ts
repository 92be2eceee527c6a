import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSyncSlots, maxParallelSyncs, maxStalled } from '../../../src/service/syncs/sync-slots.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('queue' as const), workspace: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
  fc.record({ kind: fc.constantFrom('stalled' as const, 'active' as const), which: fc.nat() }),
);

interface Sync {
  readonly workspace: string;
}

test('neither stalled syncs nor workspaces above their share block others, and the limit of syncs holds', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), async (slots, steps) => {
      const share = Math.max(1, Math.floor(slots / 2));
      const syncSlots = createSyncSlots<Sync>(slots);
      const queued: Sync[] = [];
      const running: Sync[] = [];
      const stalled = new Set<Sync>();
      const runningOf = (workspace: string) => running.filter((sync) => sync.workspace === workspace).length;

      async function claimAll(): Promise<void> {
        for (;;) {
          const claimed = await syncSlots.claim(async (except) => {
            const next = queued.findIndex(({ workspace }) => !except.includes(workspace));
            return next === -1 ? undefined : queued.splice(next, 1)[0];
          });
          if (claimed === undefined) return;
          running.push(claimed);
        }
      }

      for (const each of steps) {
        if (each.kind === 'queue') queued.push({ workspace: each.workspace });
        else if (each.kind === 'end') {
          const [ended] = running.splice(each.which % Math.max(1, running.length), 1);
          if (ended !== undefined) syncSlots.free(ended);
          if (ended !== undefined) stalled.delete(ended);
        } else {
          const sync = running[each.which % Math.max(1, running.length)];
          if (sync !== undefined) syncSlots.setStalled(sync, each.kind === 'stalled');
          if (sync !== undefined) stalled[each.kind === 'stalled' ? 'add' : 'delete'](sync);
        }
        await claimAll();
        expect(running.length).toBeLessThanOrEqual(maxParallelSyncs(slots));
        const workspaces = [...new Set(running.map(({ workspace }) => workspace))];
        const activeOf = (workspace: string) =>
          running.filter((sync) => sync.workspace === workspace && !stalled.has(sync)).length;
        const counted = workspaces.map((workspace) => Math.min(share, activeOf(workspace)));
        const beyond = Math.max(0, stalled.size - maxStalled(slots));
        const hasRoom =
          counted.reduce((sum, count) => sum + count, beyond) < slots && running.length < maxParallelSyncs(slots);
        const belowShare = queued.filter(({ workspace }) => runningOf(workspace) < share);
        if (hasRoom) expect(belowShare).toEqual([]);
        if (running.length < slots) expect(queued).toEqual([]);
      }
    }),
  );
});
