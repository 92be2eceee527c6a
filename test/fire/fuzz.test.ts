import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, test } from 'vitest';
import { type Answer, type OtherServer, openOtherServer } from '../support/other-servers/other-server.ts';
import { inTurn, say, silence } from '../support/other-servers/responses.ts';
import { fasterTime } from '../support/preload.ts';
import { readActionFile } from '../support/runner/action-file.ts';
import { type Job, openJob } from '../support/runner/job.ts';
import { runs } from '../support/runs.ts';
import { printedSeed } from '../support/seed.ts';
import { expectHarmless } from './harmless.ts';
import { anyBytes, anything, asBytes, resource, response, text, token, value } from './hostile.ts';

let server: OtherServer;
let answer: Answer = silence;

/** Sets the next responses; each character stands for a byte. */
function answerWith([first = '', ...others]: readonly string[]): void {
  const bytes = (text: string) => say(Buffer.from(text, 'latin1'));
  answer = inTurn(bytes(first), ...others.map(bytes));
}

beforeAll(async () => {
  server = await openOtherServer((response, request) => answer(response, request));
  return server.close;
});

async function withJob(work: (job: Job) => Promise<void>): Promise<void> {
  const env = {
    ...{ WORKSPACE_BASE_URL: server.baseUrl, WORKSPACE_TOKEN: token, WORKSPACE_ID: 'game' },
    // Post-steps retry for 45 s, and steps retry transient errors many times.
    NODE_OPTIONS: fasterTime(300),
  };
  const job = await openJob({ sharesProcesses: true, env });
  await work(job).finally(job.end);
}

const settings = (what: string, few: number, many: number) => ({
  numRuns: runs(few, many),
  seed: printedSeed(what),
  endOnFailure: process.env['SOAK'] === '1',
});

const answers = fc.array(
  fc.oneof(
    { weight: 3, arbitrary: response(fc.constantFrom(200, 201, 202, 204, 404, 409, 412, 422, 423), resource) },
    { weight: 1, arbitrary: fc.constantFrom('HTTP/1.1 204 x\r\n\r\n', 'HTTP/1.1 404 x\r\nconnection: close\r\n\r\n') },
    { weight: 1, arbitrary: anything },
  ),
  { minLength: 1, maxLength: 5 },
);

const check = { operation: 'check', locks: '[{"path":"a","etag":"\\"1\\""},{"path":"b/c"},{"path":"b/d"}]' };

const operations: readonly Readonly<Record<string, string>>[] = [
  { operation: 'list-workspaces' },
  { operation: 'list-branches', retries: '1' },
  { operation: 'list-locks' },
  { operation: 'list-locks', 'fail-if-locked': 'true', path: 'a\nb' },
  check,
  { ...check, operation: 'unlock' },
  { operation: 'unlock', path: 'a\nb/c' },
  { operation: 'lock', path: 'a' },
  { operation: 'lock', path: 'a\nb', wait: '20s', retries: '1' },
  { operation: 'sync', branch: 'main', wait: '30s' },
  { operation: 'sync', branch: 'main' },
  { operation: 'register-hook', 'hook-url': 'https://ci.example.com/hook' },
];

test('a step ends with a reason and a harmless log for any response', { timeout: 3_600_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...operations), answers, async (given, sent) => {
      answerWith(sent);
      await withJob(async (job) => {
        expectHarmless(await job.run({ with: { retries: '0', ...given } }), 'main', [token]);
        for (const post of await job.post()) expectHarmless(post, 'post', [token]);
      });
    }),
    settings('arbitrary responses', 100, 10_000),
  );
});

const { post = '' } = await readActionFile();
const step = '00000000-0000-4000-8000-000000000000';

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

const kinds = ['step-started', 'plan', 'intent', 'granted', 'acquired', 'releasing', 'ended'];

/** A line of the ledger that is nearly valid: often valid enough to be trusted. */
const entry = (service: string): fc.Arbitrary<unknown> =>
  fc.record({
    kind: fc.oneof({ weight: 20, arbitrary: fc.constantFrom(...kinds) }, { weight: 1, arbitrary: value }),
    service: fc.oneof({ weight: 12, arbitrary: fc.constant(service) }, { weight: 1, arbitrary: text }),
    workspace: orElse(fc.constantFrom('game', 'g\u00e4me')),
    path: orElse(fc.oneof(fc.constantFrom('a', 'b/c', '::notice::x', 'x##[error]y', '\u202ea'), text)),
    paths: orElse(fc.array(text, { maxLength: 3 })),
    step: orElse(fc.constant(step)),
    key: orElse(fc.oneof(fc.constantFrom('k1', 'k2'), text)),
    type: orElse(text),
    ttl: orElse(fc.constantFrom('1h', '30d', '1s')),
    at: time,
    notSentBefore: orElse(fc.oneof(fc.nat(), fc.constantFrom(-1, 0.5, Number.MAX_SAFE_INTEGER))),
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
        { weight: 8, arbitrary: entry(service).map((each) => asBytes(JSON.stringify(each))) },
        { weight: 1, arbitrary: anyBytes(100) },
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
    ledger: ledger(server.baseUrl),
    kept: kept(server.baseUrl),
    locksFile: fc.oneof(
      list.map((each) => asBytes(JSON.stringify(each))),
      text.map(asBytes),
      anyBytes(100),
    ),
    sent: answers,
    operation: fc.oneof(
      fc.constantFrom<Record<string, string> | undefined>(
        undefined,
        { operation: 'unlock', path: 'a\nb/c' },
        { operation: 'lock', path: 'a' },
        { operation: 'check' },
      ),
      fc.record({ operation: fc.constantFrom('unlock', 'check'), locks: handed.map(inEnvironment) }),
      fc.constant({ operation: 'unlock', 'locks-file': `../../_temp/workspace-automation/locks-${step}.json` }),
    ),
  });
  await fc.assert(
    fc.asyncProperty(record, async ({ ledger: lines, kept: remembered, locksFile, sent, operation }) => {
      answerWith(sent);
      await withJob(async (job) => {
        const folder = join(job.folders.temp, 'workspace-automation');
        await mkdir(folder);
        const writeLedger = () => writeFile(join(folder, 'ledger.jsonl'), lines, 'latin1');
        await writeFile(join(folder, `locks-${step}.json`), locksFile, 'latin1');
        await writeLedger();
        if (operation !== undefined) {
          expectHarmless(await job.run({ with: { retries: '0', ...operation }, post: null }), 'main');
          await writeLedger();
        }
        const env = { STATE_step: step, STATE_locks: inEnvironment(remembered) };
        expectHarmless(await job.run({ main: post, post: null, env }), 'post');
      });
    }),
    settings('arbitrary ledgers and states', 25, 5_000),
  );
});
