import { expect, onTestFinished, test } from 'vitest';
import { ask } from '../../support/running-service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

test('every acknowledged lock exists after a kill -9 during 1,000 lock requests', async () => {
  const folder = temporaryFolder();
  const first = await startServiceProcess({ folder });
  const answered = new Map<string, string>();
  let killed: Promise<unknown> | undefined;

  await Promise.all(
    Array.from({ length: 1_000 }, async (_, index) => {
      const path = `Content/asset-${index}.bin`;
      const json = { path, type: 'exclusive', ttl: '1h' };
      try {
        const url = `/workspaces/${first.workspace}/locks`;
        const { status, body } = await ask(first.baseUrl, 'POST', url, { token: first.token, json });
        if (status === 201) answered.set(path, body.id);
      } catch {
        // The kill cut off this request: nothing was promised.
      }
      if (answered.size >= 300) killed ??= first.kill();
    }),
  );
  expect(await killed).toBe('SIGKILL');
  expect(answered.size).toBeGreaterThanOrEqual(300);
  expect(answered.size).toBeLessThan(1_000);

  const second = await startServiceProcess({ folder });
  onTestFinished(async () => void (await second.stop()));
  const url = `/workspaces/${second.workspace}/locks?limit=1000`;
  const { body } = await ask(second.baseUrl, 'GET', url, { token: second.token });
  const found = new Map<string, string>(body.locks.map(({ path, id }: { path: string; id: string }) => [path, id]));
  for (const [path, id] of answered) expect([path, found.get(path)]).toEqual([path, id]);
});
