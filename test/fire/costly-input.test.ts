import { beforeAll, expect, test } from 'vitest';
import { newTokenId } from '../../src/service/tokens/secret.ts';
import { visit } from '../service/dashboard/browser-like.ts';
import { measured } from '../support/measured.ts';
import { raw } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import { startJob } from '../support/runner/start-job.ts';
import { serviceOfTests } from '../support/service-of-tests.ts';
import { slowestAnswerDuring } from '../support/slowest-response.ts';

const service = serviceOfTests();
let workspace: string;
beforeAll(async () => {
  workspace = await service.workspace();
});

test('a flood of form fields without a sign-in does not delay other requests', async () => {
  const repeated = 'a&'.repeat(40_000);
  const short = 'a&'.repeat(30_000);
  const send = (raw: string) =>
    service.ask('POST', '/sign-in', {
      raw,
      headers: { origin: service.baseUrl, 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
    });
  const answers: { readonly status: number; readonly text: string }[] = [];
  const slowest = await slowestAnswerDuring(service, async () => {
    for (const form of [repeated, short, repeated, short]) answers.push(await send(form));
  });
  expect(answers.map(({ status }) => status)).toEqual([413, 403, 413, 403]);
  expect(answers[0]?.text).toContain('A form must not be larger than 65536 bytes.');
  measured('slowest response to other clients during a flood of form fields (ms)', slowest, { atMost: 1_000 });
});

test('paths and names with combining marks in the wrong order do not delay other requests', async () => {
  const { secret } = await service.token();
  // To sort them, each mark of the second half must pass all marks of the first.
  const marks = '\u0345'.repeat(40_000) + '\u0327'.repeat(40_000);
  const locks = `/v1/workspaces/${workspace}/locks`;
  const visitor = visit(service);
  await visitor.signIn(secret);
  const statuses: number[] = [];
  const slowest = await slowestAnswerDuring(service, async () => {
    for (const path of [marks, `Content/${marks}`, marks]) {
      const response = await service.ask('POST', locks, {
        token: secret,
        json: { path, type: 'exclusive', ttl: '1h' },
      });
      statuses.push(response.status);
    }
    // Percent-encoded, this shorter name fills the largest allowed form.
    const name = marks.slice(35_000, 45_000);
    statuses.push((await visitor.post('/tokens', { id: newTokenId(), name, scope: 'sync', expires: '30d' })).status);
  });
  expect(statuses).toEqual([422, 422, 422, 422]);
  measured('slowest response to other clients during combining marks in the wrong order (ms)', slowest, {
    atMost: 1_000,
  });
});

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
