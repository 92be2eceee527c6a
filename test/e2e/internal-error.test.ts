import { expect, test } from 'vitest';
import { preload } from '../support/preload.ts';
import { openScene } from './scene.ts';

const scene = openScene();

/** A step in which sending a request fails as wrong code does. */
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
  'a fault of the action itself ends %s at once and is called a bug, with its stack in the debug log',
  async (_, inputs) => {
    const job = await scene.job({ workspace: await scene.service.workspace(), debug: true });
    const result = await job.run({ with: inputs, env: { NODE_OPTIONS: faulty } });
    expect(result, result.log).toMatchObject({ conclusion: 'failure', exitCode: 1 });
    expect(result.annotations).toMatchObject([{ level: 'error', message: said }]);
    expect(result.log.match(/sending a request/g)).toHaveLength(1);
    expect(result.debug.join('\n')).toMatch(/TypeError: x is not a function\n\s+at /);
  },
);
