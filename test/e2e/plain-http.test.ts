import { expect, test } from 'vitest';
import { json } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';
import { startJob } from '../support/runner/start-job.ts';

const step = (url: string, allow?: string) => ({
  with: {
    operation: 'list-workspaces',
    'base-url': url,
    token: 'wsa_0123456789',
    ...(allow && { 'allow-http': allow }),
  },
});

test('plain http to another machine is refused before a request, and with it the token would have gone', async () => {
  const job = await startJob();
  const result = await job.run(step('http://10.0.0.1/v1'));
  expect(result).toMatchObject({ conclusion: 'failure', exitCode: 1, outputs: {} });
  expect(result.log).toBe(
    '##[error]Input `base-url` is "http://10.0.0.1/v1". Plain http would expose the token to everyone on the way. Use https, or set `allow-http: true` on a network that is yours alone.',
  );
});

test('plain http goes where it is allowed to', async () => {
  const server = await startOtherServer(json(200, []));
  // An address of this machine that is not its loopback address.
  const url = `http://0.0.0.0:${server.port}/v1`;
  const job = await startJob();
  expect((await job.run(step(url))).conclusion).toBe('failure');
  expect(server.requests).toEqual([]);
  expect((await job.run(step(url, 'true'))).conclusion).toBe('success');
  expect(server.requests).toHaveLength(1);
});
