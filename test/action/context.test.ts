import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { connect } from '../../src/action/context.ts';
import type { Log } from '../../src/action/report/reporter.ts';
import { steadyClock } from '../../src/client/client.ts';
import { inTurn, json, nothing } from '../support/other-servers/answers.ts';
import { startOtherServer } from '../support/other-servers/other-server.ts';

function listen() {
  const lines: string[] = [];
  const warnings: string[] = [];
  const debug: string[] = [];
  const log: Log = {
    line: (text) => void lines.push(text),
    warn: (text) => void warnings.push(text),
    debug: (text) => void debug.push(text),
    group: (title) => void lines.push(title),
  };
  return { log, lines, warnings, debug };
}

const connection = (baseUrl: string, retries: number) => ({
  baseUrl,
  token: 'wsa_x',
  retries,
  requestTimeout: { seconds: 10 },
});

const { version } = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'));

const origin = 'https://github.com/octo-games/dragon/actions/runs/1001/attempts/1';

test('of many retries the first ten are told, and the others to who reads the debug log', async () => {
  const server = await startOtherServer(nothing(503, { 'retry-after': '0' }));
  const { log, lines, debug } = listen();
  const client = connect(connection(server.baseUrl, 1), origin, log);
  const within = { deadline: steadyClock() + 60_000 };
  await Promise.allSettled(Array.from({ length: 13 }, () => client.listWorkspaces(within)));
  client.dispose();
  expect(lines).toHaveLength(11);
  expect(lines[0]).toMatch(
    /^The service failed \(GET \/v1\/workspaces: 503 Service Unavailable\)\. Trying again in \d\.\d s\.$/,
  );
  expect(lines[10]).toBe('Further retries are in the debug log only.');
  expect(debug).toHaveLength(3);
});

test('what the service says of its own end is one warning', async () => {
  const server = await startOtherServer(json(200, [], { sunset: 'Sat, 31 Dec 2050 23:59:59 GMT' }));
  const { log, warnings } = listen();
  const client = connect(connection(server.baseUrl, 0), origin, log);
  const within = { deadline: steadyClock() + 60_000 };
  await client.listWorkspaces(within);
  await client.listWorkspaces(within);
  client.dispose();
  expect(warnings).toEqual(['The service says that this interface ends on Sat, 31 Dec 2050 23:59:59 GMT.']);
});

test('every request tells of the run and the version; outside of a workflow, only of the version', async () => {
  const server = await startOtherServer(inTurn(json(200, [])));
  const { log } = listen();
  const within = { deadline: steadyClock() + 60_000 };
  for (const from of [origin, undefined]) {
    const client = connect(connection(server.baseUrl, 0), from, log);
    await client.listWorkspaces(within);
    client.dispose();
  }
  expect(server.requests.map(({ headers }) => headers.referer)).toEqual([origin, undefined]);
  expect(server.requests[1]?.headers['user-agent']).toBe(`workspace-automation/${version}`);
});
