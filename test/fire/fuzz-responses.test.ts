import fc from 'fast-check';
import { test } from 'vitest';
import { runs } from '../support/runs.ts';
import { printedSeed } from '../support/seed.ts';
import { openAnsweredSteps } from './answering.ts';
import { expectHarmless } from './harmless.ts';
import * as hostile from './hostile.ts';

const steps = openAnsweredSteps();

const { response, status, noise, anyJson } = hostile;
const named = fc.oneof(fc.constantFrom({ id: 'game' }), hostile.lock, hostile.value);
const good = fc.constantFrom(200, 200, 201, 202, 204);

/** Any response that may come back for any request. */
const anything = fc.oneof(
  { weight: 3, arbitrary: response(status, anyJson) },
  { weight: 1, arbitrary: noise },
  { weight: 2, arbitrary: response(status, hostile.problem) },
);

const mostly = (usual: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.array(fc.oneof({ weight: 3, arbitrary: usual }, { weight: 1, arbitrary: anything }), {
    minLength: 1,
    maxLength: 5,
  });

type Inputs = Readonly<Record<string, string>>;

const list: Inputs = { INPUT_OPERATION: 'list-locks' };

const readers: readonly (readonly [as: string, inputs: readonly Inputs[], responses: fc.Arbitrary<string[]>])[] = [
  [
    'lists',
    [
      { INPUT_OPERATION: 'list-workspaces' },
      { INPUT_OPERATION: 'list-branches' },
      list,
      { ...list, 'INPUT_FAIL-IF-LOCKED': 'true', INPUT_PATH: 'a\nb' },
      { INPUT_OPERATION: 'check', INPUT_LOCKS: '[{"path":"a","etag":"\\"1\\""},{"path":"b/c"},{"path":"b/d"}]' },
    ],
    mostly(
      response(
        fc.constant(200),
        fc.oneof(
          hostile.page('workspaces', named),
          hostile.page('branches', named),
          hostile.page('locks', hostile.lock),
        ),
      ),
    ),
  ],
  [
    'errors and problem details',
    [
      list,
      { INPUT_OPERATION: 'list-branches', INPUT_RETRIES: '1' },
      { INPUT_OPERATION: 'lock', INPUT_PATH: 'a' },
      { INPUT_OPERATION: 'unlock', INPUT_PATH: 'a\nb/c' },
    ],
    mostly(response(status, hostile.problem)),
  ],
  [
    'the status of a sync',
    [
      { INPUT_OPERATION: 'sync', INPUT_BRANCH: 'main', INPUT_WAIT: '30s' },
      { INPUT_OPERATION: 'sync', INPUT_BRANCH: 'main' },
    ],
    mostly(
      response(
        good,
        hostile.sync,
        hostile.headers.map((headers) => ({ location: '/v1/progress', ...headers })),
      ),
    ),
  ],
  [
    'acquired and released locks',
    [
      { INPUT_OPERATION: 'lock', INPUT_PATH: 'a' },
      { INPUT_OPERATION: 'lock', INPUT_PATH: 'a\nb', INPUT_WAIT: '20s', INPUT_RETRIES: '1' },
      { INPUT_OPERATION: 'unlock', INPUT_LOCKS: '[{"path":"a","etag":"\\"1\\""},{"path":"b"}]' },
    ],
    mostly(response(fc.oneof(good, fc.constantFrom(404, 409, 412, 423)), fc.oneof(hostile.lock, hostile.problem))),
  ],
  [
    'hooks',
    [{ INPUT_OPERATION: 'register-hook', 'INPUT_HOOK-URL': 'https://ci.example.com/hook' }],
    mostly(response(good, hostile.hook)),
  ],
];

test.each(readers)(
  'a step ends with a reason and a harmless log for any response (%s)',
  { timeout: 3_600_000 },
  async (as, inputs, answers) => {
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...inputs), answers, async (given, sent) => {
        steps.answerWith(sent);
        const env = {
          WORKSPACE_BASE_URL: steps.baseUrl(),
          WORKSPACE_TOKEN: hostile.token,
          WORKSPACE_ID: 'game',
          INPUT_RETRIES: '0',
          ...given,
        };
        expectHarmless(await steps.run({ stage: 'main', env }), 'main', [hostile.token]);
        expectHarmless(await steps.run({ stage: 'post', env, goesOn: true }), 'post', [hostile.token]);
      }),
      {
        numRuns: runs(20, 2_000),
        seed: printedSeed(`arbitrary responses as ${as}`),
        endOnFailure: process.env['SOAK'] === '1',
      },
    );
  },
);
