import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { preload } from '../support/preload.ts';
import { openScene } from './scene.ts';

const scene = openScene();

/** Preloads code that throws a TypeError when a request is sent. */
const faulty = preload(`
  import http from 'node:http';
  http.Agent.prototype.createConnection = () => {
    console.log('sending a request');
    throw new TypeError('x is not a function');
  };
`);

const said =
  'Internal error: x is not a function. This is a bug in the action: report it with the log of a run that has debug logging enabled.';

test.each<[string, Readonly<Record<string, string>>]>([
  ['list-locks', { operation: 'list-locks' }],
  ['lock', { operation: 'lock', path: 'a', wait: '1m' }],
])(
  'a bug in the action ends %s at once and is reported as such, with its stack in the debug log',
  async (_, inputs) => {
    const job = await scene.job({ workspace: await scene.service.workspace(), debug: true });
    const result = await job.run({ with: inputs, env: { NODE_OPTIONS: faulty } });
    expect(result, result.log).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.annotations).toMatchObject([{ level: 'error', message: said }]);
    expect(result.log.match(/sending a request/g)).toHaveLength(1);
    expect(result.debug.join('\n')).toMatch(/TypeError: x is not a function\n\s+at /);
  },
);

test('a bug in the renewal process is recorded in the ledger', async () => {
  const job = await scene.job({ workspace: await scene.service.workspace() });
  const inRenewer = preload(`
    import http from 'node:http';
    const create = http.Agent.prototype.createConnection;
    http.Agent.prototype.createConnection = function (...given) {
      if (process.argv[1].includes('renew')) throw new TypeError('x is not a function');
      return create.apply(this, given);
    };
  `);
  const inputs = { operation: 'lock', path: 'a', ttl: '9s', renew: 'true' };
  const main = await job.run({ with: inputs, env: { NODE_OPTIONS: inRenewer } });
  expect(main, main.log).toMatchObject({ conclusion: 'success' });
  const ledger = (): Promise<string> => readFile(join(job.folders.temp, 'workspace-automation/ledger.jsonl'), 'utf8');
  await expect.poll(ledger).toContain('"reason":"Internal error: x is not a function. This is a bug');
  await job.post();
});
