import { expect, test } from 'vitest';
import { sqlite } from '../../support/databases.ts';
import { expectProblem } from './expect-problem.ts';
import { locksOf, sharedService } from './shared-service.ts';

const quotas = { maxLocks: 5, maxLocksPerOwner: 3 };
const service = sharedService(sqlite, { quotas });

test('a workspace at its lock limit refuses new locks with a reason, but renews and releases existing ones', async () => {
  const workspace = await service.workspace();
  const [ada, bob] = [await service.token({ name: 'ada' }), await service.token({ name: 'bob' })];
  const adas = locksOf(service, workspace, ada.secret);
  const bobs = locksOf(service, workspace, bob.secret);
  const first = await adas.take('a');
  for (const path of ['b', 'c']) expect((await adas.take(path)).status).toBe(201);
  expect(expectProblem(await adas.take('d'), 'quota-exceeded').detail).toContain(
    'The owner of this token has the maximum of 3 locks in this workspace.',
  );
  for (const path of ['d', 'e']) expect((await bobs.take(path)).status).toBe(201);
  expect(expectProblem(await bobs.take('f'), 'quota-exceeded').detail).toContain(
    'The workspace has its maximum of 5 locks.',
  );
  expect((await bobs.take('a')).status).toBe(409);
  expect((await adas.take('a', { 'if-match': first.headers.get('etag') ?? '' })).status).toBe(200);
  expect((await locksOf(service, await service.workspace(), ada.secret).take('a')).status).toBe(201);
  expect((await adas.release('b')).status).toBe(204);
  await expect.poll(async () => (await bobs.take('f')).status).toBe(201);
  const { text } = await service.ask('GET', '/metrics', { token: ada.secret });
  expect(text).toMatch(/^workspace_locks_refused_total [1-9]/m);
});
