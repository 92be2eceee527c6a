import fc from 'fast-check';
import { test } from 'vitest';
import { runs } from '../support/runs.ts';
import { printedSeed } from '../support/seed.ts';
import { openAnsweredSteps } from './answering.ts';
import { expectHarmless } from './harmless.ts';
import * as hostile from './hostile.ts';

const steps = openAnsweredSteps();

const step = '00000000-0000-4000-8000-000000000000';
const { value, text } = hostile;

/** The right value, or rarely any other one, so that most of an entry stays valid. */
const orElse = (right: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: value });

const time = orElse(
  fc.constantFrom('2026-03-01T12:00:00.000Z', '+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00.000Z', 'soon', ''),
);

const grantedLock = fc.record(
  {
    path: orElse(fc.constantFrom('a', 'b/c')),
    type: orElse(text),
    expires_at: time,
    id: orElse(text),
    etag: orElse(fc.oneof(text, fc.constantFrom('"1"', '"2"'))),
    owner: orElse(text),
    acquired_at: time,
  },
  { requiredKeys: ['path', 'type', 'expires_at'], noNullPrototype: true },
);

/** A line of the ledger that is nearly valid: often valid enough to be trusted. */
const entry = (service: string): fc.Arbitrary<unknown> =>
  fc.record({
    kind: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('plan', 'intent', 'granted', 'acquired', 'releasing', 'ended') },
      { weight: 1, arbitrary: value },
    ),
    service: fc.oneof({ weight: 12, arbitrary: fc.constant(service) }, { weight: 1, arbitrary: text }),
    workspace: orElse(fc.constantFrom('game', 'g\u00e4me')),
    path: orElse(fc.oneof(fc.constantFrom('a', 'b/c', '::notice::x', 'x##[error]y', '\u202ea'), text)),
    paths: orElse(fc.array(text, { maxLength: 3 })),
    step: orElse(fc.constant(step)),
    key: orElse(fc.oneof(fc.constantFrom('k1', 'k2'), text)),
    type: orElse(text),
    ttl: orElse(fc.constantFrom('1h', '30d', '1s')),
    at: time,
    byService: orElse(fc.boolean()),
    waitedMs: orElse(fc.oneof(fc.nat(), fc.constantFrom(-1, 1e300, 0.5, Number.MAX_SAFE_INTEGER))),
    lock: orElse(grantedLock),
    how: orElse(fc.constantFrom('released', 'absent', 'lost')),
    id: orElse(text),
    etag: orElse(text),
  });

/** A file of JSON lines with some invalid lines; a character stands for a byte. */
const ledger = (service: string): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        { weight: 8, arbitrary: entry(service).map((each) => hostile.asBytes(JSON.stringify(each))) },
        { weight: 1, arbitrary: hostile.anyBytes(100) },
        { weight: 1, arbitrary: fc.constantFrom('['.repeat(100_000), '{"kind":"granted"') },
      ),
      { maxLength: 5 },
    )
    .map((lines) => lines.map((line) => `${line}\n`).join(''));

const list = fc.array(orElse(grantedLock), { maxLength: 3 });

const kept = (service: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 3, arbitrary: fc.constant('') },
    { weight: 3, arbitrary: ledger(service) },
    { weight: 1, arbitrary: text },
  );

const answers = fc.array(
  fc.oneof(
    fc.constantFrom('HTTP/1.1 204 x\r\n\r\n', 'HTTP/1.1 404 x\r\nconnection: close\r\n\r\n'),
    hostile.response(fc.constantFrom(200, 201, 204, 403, 404, 409, 412, 422), fc.oneof(hostile.lock, hostile.problem)),
  ),
  { minLength: 1, maxLength: 3 },
);

const environment = () => ({
  WORKSPACE_BASE_URL: steps.baseUrl(),
  WORKSPACE_TOKEN: hostile.token,
  WORKSPACE_ID: 'game',
  INPUT_RETRIES: '0',
});

// Environment variables cannot contain NUL.
const inEnvironment = (given: string): string => given.replaceAll('\0', '').slice(0, 100_000);

const handed = fc.oneof(
  { weight: 5, arbitrary: list.map((each) => JSON.stringify(each)) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: fc.constantFrom('['.repeat(50_000), '[null]', '[[]]', '{"path":"a"}', '1e999') },
);

test('unlock, check and post-step end with a reason, and do no harm, for any ledger, runner state and `locks`', {
  timeout: 3_600_000,
}, async () => {
  const record = fc.record({
    ledger: ledger(steps.baseUrl()),
    kept: kept(steps.baseUrl()),
    locksFile: fc.oneof(
      list.map((each) => hostile.asBytes(JSON.stringify(each))),
      text.map(hostile.asBytes),
      hostile.anyBytes(100),
    ),
    sent: answers,
    operation: fc.oneof(
      fc.constantFrom<Record<string, string> | undefined>(
        undefined,
        { INPUT_OPERATION: 'unlock', INPUT_PATH: 'a\nb/c' },
        { INPUT_OPERATION: 'lock', INPUT_PATH: 'a' },
        { INPUT_OPERATION: 'check' },
      ),
      fc.record({ INPUT_OPERATION: fc.constantFrom('unlock', 'check'), INPUT_LOCKS: handed.map(inEnvironment) }),
      fc.constant({ INPUT_OPERATION: 'unlock', 'INPUT_LOCKS-FILE': `../temp/workspace-automation/locks-${step}.json` }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(record, async ({ ledger: lines, kept: remembered, locksFile, sent, operation }) => {
      steps.answerWith(sent);
      const files = {
        'workspace-automation/ledger.jsonl': Buffer.from(lines, 'latin1'),
        [`workspace-automation/locks-${step}.json`]: Buffer.from(locksFile, 'latin1'),
      };
      const env = environment();
      if (operation !== undefined) {
        expectHarmless(await steps.run({ stage: 'main', env: { ...env, ...operation }, files }), 'main');
      }
      const state = { STATE_step: step, STATE_locks: inEnvironment(remembered) };
      const goesOn = operation !== undefined;
      expectHarmless(await steps.run({ stage: 'post', env: { ...env, ...state }, files, goesOn }), 'post');
    }),
    {
      numRuns: runs(25, 5_000),
      seed: printedSeed('arbitrary ledgers and states'),
      endOnFailure: process.env['SOAK'] === '1',
    },
  );
});
