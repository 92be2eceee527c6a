import { test } from 'vitest';
import { measured } from '../support/measured.ts';
import { raw } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { startJob } from '../support/runner/start-job.ts';

const megabyte = 1_024 * 1_024;
const repeated = (unit: string, bytes: number): string => unit.repeat(bytes / Buffer.byteLength(unit));

test.each([
  [
    'one path with combining marks in the wrong order',
    JSON.stringify([repeated('\u0345', 4 * megabyte) + repeated('\u0327', 4 * megabyte)]),
  ],
  ['many such paths', `[${repeated(`"a${'\u0345\u0327'.repeat(1_000)}",`, 8 * megabyte)}"b"]`],
  ['a page of scripts that do not end', `<html>${repeated('<script>', 8 * megabyte)}`],
  ['short texts', `[${repeated('"abcdefghijk",', 8 * megabyte)}1]`],
])('a step whose response is 8 MB of %s ends in time', async (_name, response) => {
  const server = await startOtherServer(raw(200, response));
  const job = await startJob({
    env: { WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: 'wsa_0123456789', WORKSPACE_ID: 'game' },
  });
  const began = performance.now();
  await job.run({ with: { operation: 'list-locks' } });
  measured('a step with a response of 8 MB took (s)', (performance.now() - began) / 1_000, { atMost: 30 });
});
