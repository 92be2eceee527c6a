import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Storage } from '../../../src/service/storage/storage.ts';
import { preload, slowerTimeouts } from '../../support/preload.ts';

interface ClockOptions {
  readonly storage: Storage;
  readonly workspace: string;
  readonly end: (cleanUp: () => Promise<void>) => void;
}

export type Clock = Awaited<ReturnType<typeof openClock>>;

/** The clock of a workspace and its jobs. It runs in real time, and jumps ahead when a test says so. */
export async function openClock({ storage, workspace, end }: ClockOptions) {
  const folder = await mkdtemp(join(tmpdir(), 'workspace-clock-'));
  end(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'ahead');
  let aheadMs = 0;
  const tellJobs = (): Promise<void> => utimes(file, aheadMs / 1_000, aheadMs / 1_000);
  await writeFile(file, '');
  await tellJobs();
  // The service uses real time, so its stored times move back instead.
  const earlier = (column: 'acquired_at' | 'expires_at', ms: number) => sql<number>`${sql.ref(column)} - ${ms}`;
  return {
    // On a busy machine, a renewal process may take longer to start than the step waits for it.
    /** Environment of the jobs, which makes them follow the clock. */
    env: { NODE_OPTIONS: `${clockFollowing(file)} ${slowerTimeouts(15)}` },
    aheadMs: () => aheadMs,
    /** Jumps ahead: locks of the workspace and exchanged tokens expire, and timers of the jobs fire, as if the time had passed. */
    async pass(ms: number): Promise<void> {
      await storage.commit('global', async (db) => {
        const times = { acquired_at: earlier('acquired_at', ms), expires_at: earlier('expires_at', ms) };
        await db.updateTable('locks').set(times).where('workspace_id', '=', workspace).execute();
        const exchanged = db.updateTable('tokens').where('run_id', 'is not', null);
        await exchanged.set({ expires_at: earlier('expires_at', ms) }).execute();
      });
      aheadMs += ms;
      await tellJobs();
    },
  };
}

/**
 * A machine whose clocks are ahead of ours by the modification time of a file, in milliseconds since 1970. If that
 * changes, the clocks of all its processes jump, and due timers fire. Everything else runs at normal speed.
 */
const clockFollowing = (file: string): string =>
  preload(`
    import { statSync } from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    import promises from 'node:timers/promises';
    let last = 0;
    const ahead = () => (last = statSync(${JSON.stringify(file)}, { throwIfNoEntry: false })?.mtimeMs ?? last);
    globalThis.Date = class extends Date {
      constructor(...given) { if (given.length === 0) super(Date.now()); else super(...given); }
      static now() { return super.now() + ahead(); }
    };
    const now = performance.now.bind(performance);
    performance.now = () => now() + ahead();
    const uptime = process.uptime.bind(process);
    process.uptime = () => uptime() + ahead() / 1_000;
    const { setTimeout: later, clearTimeout: cancel } = globalThis;
    const pending = new Map();
    globalThis.setTimeout = (work, ms = 0, ...given) => {
      const goOff = () => { pending.delete(timer); work(...given); };
      const timer = later(goOff, ms);
      // The caller computed the time from the last reading of the clock, which may have jumped since.
      pending.set(timer, { dueAt: now() + last + ms, goOff });
      return timer;
    };
    globalThis.clearTimeout = (timer) => { pending.delete(timer); cancel(timer); };
    promises.setTimeout = (ms, value, { signal } = {}) => new Promise((resolve, reject) => {
      const stop = () => { clearTimeout(timer); reject(signal.reason); };
      const timer = setTimeout(() => { signal?.removeEventListener('abort', stop); resolve(value); }, ms);
      signal?.addEventListener('abort', stop, { once: true });
      if (signal?.aborted) stop();
    });
    syncBuiltinESMExports();
    let seen = ahead();
    setInterval(() => {
      if (ahead() === seen) return;
      seen = last;
      for (const [timer, { dueAt, goOff }] of pending) if (dueAt <= performance.now()) { cancel(timer); goOff(); }
    }, 20).unref();
  `);
