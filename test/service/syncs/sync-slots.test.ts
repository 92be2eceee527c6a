import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSyncSlots, maxParallelSyncs } from '../../../src/service/syncs/sync-slots.ts';

const step = fc.oneof(
  fc.record({ kind: fc.constant('queue' as const), workspace: fc.constantFrom('a', 'b', 'c', 'd') }),
  fc.record({ kind: fc.constant('end' as const), which: fc.nat() }),
);

test('no workspace waits while others have more than their share, and no more syncs run than is said', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 60 }), async (slots, steps) => {
      const share = Math.max(1, Math.floor(slots / 2));
      const syncSlots = createSyncSlots(slots);
      const queued: { workspace: string }[] = [];
      const running: { workspace: string }[] = [];
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
        else {
          const [ended] = running.splice(each.which % Math.max(1, running.length), 1);
          if (ended !== undefined) syncSlots.free(ended.workspace);
        }
        await claimAll();
        expect(running.length).toBeLessThanOrEqual(maxParallelSyncs(slots));
        const workspaces = [...new Set(running.map(({ workspace }) => workspace))];
        const counted = workspaces.map((workspace) => Math.min(share, runningOf(workspace)));
        const hasRoom = counted.reduce((sum, count) => sum + count, 0) < slots;
        const belowShare = queued.filter(({ workspace }) => runningOf(workspace) < share);
        if (hasRoom) expect(belowShare).toEqual([]);
        if (running.length < slots) expect(queued).toEqual([]);
      }
    }),
  );
});
