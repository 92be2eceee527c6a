import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { locking, openStage, useService } from './stage.ts';

useService();

test('a job that locks two paths gets both, although others never let either of them be free', async () => {
  const stage = await openStage();
  const paths = ['a', 'b'];
  let isOver = false;
  let grants = 0;
  /** Takes turns with another client of the same kind, so that one of them always waits for the path. */
  async function keepBusy(path: string): Promise<void> {
    const address = `${stage.baseUrl}/workspaces/${stage.workspace}/locks`;
    const authorization = `Bearer ${stage.token}`;
    while (!isOver) {
      const taken = await fetch(address, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': 'application/json',
          prefer: 'wait=30',
          'idempotency-key': randomUUID(),
        },
        body: JSON.stringify({ path, type: 'exclusive', ttl: '1h' }),
      });
      if (taken.status !== 201) continue;
      grants += 1;
      await sleep(20);
      const released = await fetch(`${address}/${path}`, {
        method: 'DELETE',
        headers: { authorization, 'if-match': taken.headers.get('etag') ?? '' },
      });
      expect(released.status).toBe(204);
    }
  }
  const others = Promise.all([...paths, ...paths].map(keepBusy));
  await expect.poll(() => grants).toBeGreaterThan(10);
  const job = await stage.job();
  const result = await job.run(locking(paths, { wait: '2m' }));
  isOver = true;
  expect(result).toMatchObject({ conclusion: 'success', outputs: { count: '2' } });
  await job.post();
  await others;
});
