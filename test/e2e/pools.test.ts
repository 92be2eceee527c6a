import { expect, test } from 'vitest';
import { json, page } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { fasterTime } from '../support/preload.ts';
import { storePool } from '../support/stored-pool.ts';
import { errorsOf, everythingLeft, jobAt, lockedIn, openScene } from './scene.ts';

const scene = openScene();

const name = 'unity-pro';

const fromPool = (inputs: Readonly<Record<string, string>> = {}) => ({
  with: { operation: 'lock', pool: name, ...inputs },
});

async function workspaceWith(...items: readonly string[]): Promise<string> {
  const workspace = await scene.service.workspace();
  await storePool(scene.service.storage, workspace, name, ...items);
  return workspace;
}

const three = ['seats/1', 'host=b1', 'seats/2', 'host=b2', 'seats/3', 'host=b3'];

test('five jobs share the three seats of a pool, never two on one seat, and all seats are free at the end', async () => {
  const workspace = await workspaceWith(...three);
  const holders = new Map<string, number>();
  const serve = async (_: unknown, number: number): Promise<void> => {
    const job = await scene.job({ workspace, timeoutMs: 120_000 });
    const result = await job.run({ ...fromPool({ wait: '2h' }), env: { NODE_OPTIONS: fasterTime(8) } });
    const [seat = '', ...others] = lockedIn(result);
    expect([result.conclusion, others]).toEqual(['success', []]);
    expect([seat, holders.get(seat)]).toEqual([expect.stringMatching(/^seats\/[123]$/), undefined]);
    holders.set(seat, number);
    expect(JSON.parse(result.outputs['properties'] ?? '')).toEqual({ [seat]: { host: `b${seat.slice(-1)}` } });
    holders.delete(seat);
    await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
  };
  await Promise.all(Array.from({ length: 5 }, serve));
  expect(await scene.locked(workspace)).toEqual([]);
});

test('a step waits for an item of somebody else, although its job holds more items than the service names', async () => {
  const seats = Array.from({ length: 20 }, (_, index) => [`seats/${index + 10}`, 'own=yes']).flat();
  const workspace = await workspaceWith(...seats, 'seats/of-grace', 'own=no');
  const job = await scene.job({ workspace });
  await job.run(fromPool({ where: 'own=yes', any: '20' }));
  await scene.lock(workspace, 'seats/of-grace');
  const waiting = job.run(fromPool({ wait: '2m' }));
  const queue = `/v1/workspaces/${workspace}/queue?path=seats/of-grace`;
  const waiters = async () => (await scene.service.ask('GET', queue, { token: job.token })).body.queue;
  await expect.poll(waiters, { timeout: 20_000 }).toHaveLength(1);
  await scene.release(workspace, 'seats/of-grace');
  expect(lockedIn(await waiting)).toEqual(['seats/of-grace']);
});

test('`where` chooses among the items of a pool, and `any` locks several', async () => {
  const workspace = await workspaceWith(...three, 'seats/4', 'host=b3,os=linux', 'seats/5', 'secret:serial=s3cret');
  const job = await scene.job({ workspace });
  const both = await job.run(fromPool({ where: 'host = b3', any: '2' }));
  expect(lockedIn(both).toSorted()).toEqual(['seats/3', 'seats/4']);
  const held = await (await scene.job({ workspace })).run(fromPool({ where: 'host=b3\nos=linux' }));
  expect(held).toMatchObject({ conclusion: 'failure', outputs: { status: 'held', acquired: 'false' } });
  for (const [inputs, error] of [
    [{ where: 'host=b9' }, expect.stringContaining('No item of the pool "unity-pro" has these properties')],
    [{ where: 'host=b3', any: '3' }, expect.stringContaining('count: It must be at most 2, the number of paths')],
    [{ pool: 'unity' }, expect.stringMatching(/has no pool "unity"\. Its pools are unity-pro \(PUT /)],
    [{ pool: '../a//b' }, expect.stringMatching(/\(PUT .*422/)],
  ] as const) {
    const result = await (await scene.job({ workspace })).run(fromPool(inputs));
    expect(errorsOf(result)).toEqual([error]);
  }
});

test('a secret that is too short to be hidden leaves the log and the outputs readable, with a warning', async () => {
  const workspace = await workspaceWith('seats/1', 'secret:serial=1');
  const job = await scene.job({ workspace });
  const result = await job.run(fromPool({}));
  expect(result.outputs).toMatchObject({ count: '1', properties: '{"seats/1":{"serial":"1"}}' });
  expect(JSON.parse(result.outputs['locks'] ?? '')).toMatchObject([
    { path: 'seats/1', id: expect.stringMatching(/^lock_/) },
  ]);
  expect(result.annotations).toMatchObject([{ message: expect.stringContaining('serial of seats/1 is too short') }]);
});

test('the secret of a locked seat is in the output, and nowhere else; secrets of other seats are not read', async () => {
  const secret = 'A1-"quoted"-B2-C3';
  const seats = ['seats/1', `secret:serial=${secret},host=b1`, 'seats/2', 'secret:serial=other-0'];
  const workspace = await workspaceWith(...seats);
  const job = await scene.job({ workspace });
  const result = await job.run(fromPool({ where: 'host=b1', renew: 'true' }));
  expect(JSON.parse(result.outputs['properties'] ?? '')).toEqual({ 'seats/1': { serial: secret, host: 'b1' } });
  const escaped = JSON.stringify(secret).slice(1, -1);
  for (const one of [secret, escaped]) expect(result.written).toContain(`::add-mask::${one}`);
  expect(result.log + result.summary).not.toContain('A1-');
  const { properties = '', ...outputs } = result.outputs;
  // The file that passes the outputs to the runner is in the temporary folder, too.
  const left = (await everythingLeft(job, { ...result, outputs })).replace(properties, '');
  expect(left).toContain('seats/1');
  for (const hidden of [secret, escaped, 'other-0']) expect(left).not.toContain(hidden);
  expect(result.written.find((line) => line.includes('A1-'))).toMatch(/^::add-mask::/);
  await expect(job.post()).resolves.toMatchObject([{ conclusion: 'success', annotations: [] }]);
});

const noRoute = json(404, { error: 'Not found' });

test.each([
  ['JSON', noRoute],
  ['a page', page(404)],
])('a service without pools, which answers %s, is reported in one sentence', async (_, answer) => {
  const list = json(200, []);
  // The post-step repeats its DELETE for 45 s if a page answers.
  const server = await startOtherServer((response, request) => {
    const instead = request.method === 'PUT' ? answer : noRoute;
    (request.method === 'GET' ? list : instead)(response, request);
  });
  const job = await jobAt(server.baseUrl);
  const result = await job.run(fromPool({ wait: '1h', retries: '1' }));
  expect(errorsOf(result)).toEqual([
    expect.stringMatching(/^The service has no pools, so no item of "unity-pro" can be locked \(PUT /),
  ]);
  // The step may have been granted a lock before a gateway answered: the list shows that it has none.
  const [post] = await job.post();
  expect(post).toMatchObject({ conclusion: 'success', annotations: [] });
});
