import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../../support/running-service.ts';
import { runCommand, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { startProcess } from '../../support/started-process.ts';

const connections = 200;

/** Sends the same request over and over, on many connections, from a process that takes no turns from the test. */
const flood = `
  const [url, token] = process.argv.slice(1);
  let answered = 0;
  const repeat = async () => {
    for (;;) {
      const response = await fetch(url, { headers: { authorization: 'Bearer ' + token } });
      await response.arrayBuffer();
      answered += 1;
      if (answered === ${connections}) console.log('flooding');
    }
  };
  for (let index = 0; index < ${connections}; index += 1) repeat();
`;

let service: ServiceProcess;
let modest: string;

const send = (token: string, method: string, path: string, json?: object) =>
  ask(service.baseUrl, method, `/workspaces/${service.workspace}${path}`, { token, ...(json && { json }) });

const lock = (path: string) => ({ path, type: 'exclusive', ttl: '1h' });

beforeAll(async () => {
  service = await startServiceProcess({ args: ['--rate-limit', '0'] });
  const create = ['token', 'create', 'modest', '--scopes', 'locks:read,locks:write'];
  modest = (await runCommand(create, { folder: service.folder })).stdout.split('\n')[0] ?? '';
  const paths = Array.from({ length: 200 }, (_, index) => `Content/asset-${index}.bin`);
  const lease = { paths, type: 'exclusive', ttl: '1h' };
  expect((await send(service.token, 'PUT', '/leases/0123456789abcdef', lease)).status).toBe(201);
});

afterAll(() => service.stop());

test('a token that lists locks on many connections at once leaves its turns to another token', async () => {
  const url = `${service.baseUrl}/workspaces/${service.workspace}/locks?limit=1000`;
  const flooding = startProcess([process.execPath, '-e', flood, url, service.token], { env: {} });
  await flooding.stdout.until((text) => (text.includes('flooding') ? text : undefined));
  const before = service.command.stderr().length;
  for (let index = 0; index < 5; index += 1) {
    expect((await send(modest, 'POST', '/locks', lock(`modest-${index}`))).status).toBe(201);
    expect((await send(modest, 'DELETE', `/locks/modest-${index}`)).status).toBe(204);
  }
  flooding.signal('SIGKILL');
  await flooding.ended();
  const log = service.command.stderr().slice(before).split('\n');
  const own = log.flatMap((line, index) =>
    line.includes('"status":201') || line.includes('"status":204') ? [index] : [],
  );
  const between = own.slice(1).map((index, position) => index - (own[position] ?? 0));
  const median = between.toSorted((one, other) => one - other)[Math.floor(between.length / 2)];
  expect(median).toBeLessThan(connections / 2);
});
