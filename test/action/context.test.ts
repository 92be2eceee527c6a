import { readFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/action/step/context.ts';
import { steadyClock } from '../../src/client/time.ts';
import { json, nothing } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));
const origin = 'https://github.com/octo-games/dragon/actions/runs/1001/attempts/1';

/** The client of a step, in a run or outside of a workflow, with the lines that it logs. */
function stepOn(baseUrl: string, { retries = 0, outside = false } = {}) {
  const lines: string[] = [];
  const warnings: string[] = [];
  const debug: string[] = [];
  const log = {
    line: (text: string) => void lines.push(text),
    warn: (text: string) => void warnings.push(text),
    debug: (text: string) => void debug.push(text),
  };
  const connection = {
    baseUrl,
    allowHttp: false,
    credentials: { kind: 'static', token: 'wsa_x' } as const,
    retries,
    requestTimeout: { seconds: 10 },
  };
  const client = connect(connection, outside ? undefined : origin, { log, mask: () => undefined }, {});
  onTestFinished(() => client.dispose());
  const list = () => client.listWorkspaces({ deadline: steadyClock() + 60_000 });
  return { list, lines, warnings, debug };
}

test('logs the first ten retries, and the rest at debug level', async () => {
  const server = await startOtherServer(nothing(503, { 'retry-after': '0' }));
  const { list, lines, debug } = stepOn(server.baseUrl, { retries: 1 });
  await Promise.allSettled(Array.from({ length: 13 }, list));
  expect(lines).toHaveLength(11);
  expect(lines[0]).toMatch(
    /^The service failed \(GET \/v1\/workspaces: 503 Service Unavailable\)\. Trying again in \d\.\d s\.$/,
  );
  expect(lines[10]).toBe('Further retries appear only in the debug log.');
  expect(debug).toHaveLength(3);
});

test('sends the run URL and the version with each request, and warns once if the interface has a sunset date', async () => {
  const server = await startOtherServer(json(200, [], { sunset: 'Sat, 31 Dec 2050 23:59:59 GMT' }));
  const { list, warnings } = stepOn(server.baseUrl);
  await list();
  await list();
  await stepOn(server.baseUrl, { outside: true }).list();
  expect(warnings).toEqual([
    'The service says that this API is deprecated, and ends on Sat, 31 Dec 2050 23:59:59 GMT.',
  ]);
  expect(server.requests.map(({ headers }) => headers.referer)).toEqual([origin, origin, undefined]);
  expect(server.requests[0]?.headers['user-agent']).toBe(`workspace-automation/${version}`);
});
