import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { measured } from '../../support/measured.ts';
import { silence } from '../../support/other-servers/responses.ts';
import { ask } from '../../support/running-service.ts';
import { runs } from '../../support/runs.ts';
import { runCommand, startServiceProcess } from '../../support/service-process.ts';
import { receiver } from './delivering.ts';
import { patient } from './hooked-service.ts';

const silentReceivers = 100;
const others = 10;

test('a hundred silent receivers do not hold up deliveries of another workspace', async () => {
  const service = await startServiceProcess({ args: ['--log-level', 'error'] });
  onTestFinished(() => service.stop().then(() => undefined));
  const added = await runCommand(
    ['workspace', 'add', 'other', '--no-check', '--remote', pathToFileURL('/nowhere').href],
    { folder: service.folder },
  );
  expect(added.stderr).toBe('');
  const { origin } = new URL(service.baseUrl);
  const post = async (workspace: string, what: 'hooks' | 'locks', json: unknown) => {
    const path = `/v1/workspaces/${workspace}/${what}`;
    expect((await ask(origin, 'POST', path, { token: service.token, json })).status).toBe(201);
  };
  const lock = (workspace: string, path: string) => post(workspace, 'locks', { path, type: 'exclusive', ttl: '1h' });

  const silent = await Promise.all(Array.from({ length: silentReceivers }, () => receiver()));
  for (const { url, behave } of silent) {
    behave(silence);
    await post(service.workspace, 'hooks', { url: url(), events: ['lock.acquired'] });
  }
  const honest = await receiver();
  await post('other', 'hooks', { url: honest.url(), events: ['lock.acquired'] });
  for (const path of ['a', 'b', 'c', 'd']) await lock(service.workspace, path);
  const reached = () => silent.filter(({ deliveries }) => deliveries.length > 0).length;
  await expect.poll(reached, patient).toBeGreaterThanOrEqual(12);

  const latencies: number[] = [];
  for (let index = 0; index < others; index += 1) {
    const begun = performance.now();
    await lock('other', `file-${index}`);
    await honest.nextDelivery();
    latencies.push(performance.now() - begun);
  }
  expect(honest.deliveries).toHaveLength(others);
  measured('the slowest delivery of another workspace, with 100 silent receivers (ms)', Math.max(...latencies), {
    atMost: runs(5_000, 1_000),
  });
});
