import { appendFile, rm, stat, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Entry, readEntry } from '../../src/locks/ledger/entry.ts';
import { historyOf, readJobLocks } from '../../src/locks/ledger/history.ts';
import { type Ledger, ledgerFile, marksIn, openLedger } from '../../src/locks/ledger/ledger.ts';
import { lockPath, workspaceId } from '../client/test-client.ts';
import { leaveOut } from '../support/left-out.ts';
import { folderOfTests } from '../support/temporary-folder.ts';
import { addressOf, at, grantOf, intentOf, lockOf, place } from './samples.ts';

const folder = folderOfTests();
let count = 0;

function freshLedger(): Ledger {
  count += 1;
  return openLedger(ledgerFile(join(folder, String(count))));
}

const proofOf = (id?: string) => (id === undefined ? {} : { id, etag: `"${id}"` });
const intent = (path: string, key: string, step = 's') => intentOf(path, { key, step });
const grant = (path: string, key: string, step = 's', id = `lock_${key}`) =>
  grantOf(path, { key, step, lock: lockOf(path, proofOf(id)) });
const denied = (path: string, key: string): Entry => ({ kind: 'ended', ...addressOf(path), at, key });
const about =
  (kind: 'releasing' | 'ended') =>
  (path: string, id?: string, key?: string): Entry => ({
    ...{ kind, ...addressOf(path), at, ...proofOf(id) },
    ...(key !== undefined && { key }),
  });
const [releasing, ended] = [about('releasing'), about('ended')];

const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.toWellFormed());

describe('the ledger file', () => {
  test('returns all entries in order, whatever texts they contain and whichever process wrote them', () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 8 }), (texts) => {
        const { file, append } = freshLedger();
        const entries = texts.map((each): Entry => ({ kind: 'unrenewed', ...place, step: each, at, reason: each }));
        append(...entries.slice(0, 1));
        openLedger(file).append(...entries.slice(1));
        expect(openLedger(file).read()).toEqual({ entries, problem: undefined });
      }),
      { numRuns: 50 },
    );
  });

  test('is created again if its folder is deleted between two entries of a step', async () => {
    const { file, append, read } = freshLedger();
    append(intent('a', '1'));
    await rm(dirname(file), { recursive: true });
    append(grant('a', '1'));
    expect(read().entries).toEqual([grant('a', '1')]);
  });

  test('is readable only by its owner', async (context) => {
    if (process.platform === 'win32') leaveOut(context, 'Windows has no file modes.');
    const { file, append } = freshLedger();
    append(ended('a'));
    for (const each of [file, join(file, '..')]) expect((await stat(each)).mode & 0o077).toBe(0);
  });

  test('has no entries if it is missing, and a problem if it cannot be read', () => {
    expect(freshLedger().read()).toEqual({ entries: [], problem: undefined });
    const unreadable = openLedger(folder).read();
    expect(unreadable).toEqual({ entries: [], problem: expect.stringMatching(/cannot be read \(EISDIR: .*\)\.$/) });
  });

  test('loses only the last line if it is truncated anywhere, and keeps later entries readable', async () => {
    const ledger = freshLedger();
    const [first, second, third] = [grant('a', '1'), grant('b', '2'), ended('a')];
    ledger.append(first, second);
    const length = (await stat(ledger.file)).size;
    const lineLength = Buffer.byteLength(JSON.stringify(second));
    for (const missing of [2, 3, 10, lineLength - 5, lineLength]) {
      await truncate(ledger.file, length - missing);
      ledger.append(third);
      expect(ledger.read()).toEqual({ entries: [first, third], problem: expect.stringMatching(/^Part of/) });
      await truncate(ledger.file, 0);
      ledger.append(first, second);
    }
  });

  test('reports damaged lines, and returns the other entries', async () => {
    const ledger = freshLedger();
    ledger.append(grant('a', '1'));
    await appendFile(ledger.file, '{"kind":"granted"\n\n[]\nnull\n\u0000\u0000\n{"kind":"other"}\n"text"\n');
    const untimed = [{ ...grant('a', '1'), at: 'soon' }, grantOf('a', { lock: lockOf('a', { expires_at: '' }) })];
    ledger.append(...untimed);
    ledger.append(ended('a'));
    expect(ledger.read()).toEqual({
      entries: [grant('a', '1'), ended('a')],
      problem: `Part of the ledger in ${ledger.file} cannot be read.`,
    });
  });
});

test('the marks of a service do not count for any other', () => {
  const ledger = freshLedger();
  const [ours, other] = [place.service, 'https://other.example.com/v1'].map((service) =>
    marksIn(ledger, ledger.append, service),
  );
  ours?.write();
  expect([ours?.read(), other?.read()]).toEqual([true, false]);
});

test('the marks of a service are found in each entry once, as steps ask for them with most responses', () => {
  const ledger = freshLedger();
  const other = openLedger(ledger.file);
  const marks = marksIn(ledger, ledger.append, place.service);
  const before = process.threadCpuUsage();
  for (let number = 0; number < 2_000; number += 1) {
    ledger.append(intent('a', String(number)), denied('a', String(number)));
    if (marks.read()) throw new Error('No process has written them.');
  }
  const { user, system } = process.threadCpuUsage(before);
  // Reading all of the ledger each time takes more than ten seconds.
  expect((user + system) / 1_000).toBeLessThan(2_000);
  marksIn(other, other.append, place.service).write();
  expect(marks.read()).toBe(true);
});

test('the marks of a service in a ledger that cannot be read are not known', () => {
  expect(marksIn(openLedger(folder), () => undefined, place.service).read()).toBe(false);
});

describe('readEntry', () => {
  const plan: Entry = { kind: 'plan', ...place, step: 's', at, paths: ['a'] };
  const renewal = { ...place, step: 's', at };
  const renewals: readonly Entry[] = [
    { kind: 'renewed', ...renewal, expires_at: at },
    { kind: 'unrenewed', ...renewal, reason: 'It is down.' },
    { kind: 'lost', ...renewal, path: lockPath('a'), key: '1' },
    { kind: 'step-ended', step: 's', at },
    { kind: 'left-alone', step: 's', at, reason: 'It may be of another job.' },
  ];
  const started: Entry = { kind: 'step-started', step: 's', at };
  const locks = [started, plan, intent('a', '1'), grant('a', '1'), releasing('a'), ended('a')];
  const samples = [...locks, ...renewals];
  const members = samples.flatMap((entry) => Object.keys(entry).map((name) => ({ kind: entry.kind, name, entry })));
  const read = (entry: object) => readEntry(JSON.stringify(entry));

  test.each(members)('rejects a $kind without a valid $name', ({ name, entry }) => {
    expect(read(entry)).toEqual(entry);
    const { [name]: _, ...rest }: Record<string, unknown> = { ...entry };
    expect(read(rest)).toBeUndefined();
    expect(read({ ...entry, [name]: [7] })).toBeUndefined();
  });

  test.each<[string, object]>([
    ['a list of excepted paths that is not an array', { ...renewals[0], except: 'a' }],
    ['an excepted path that is not a string', { ...renewals[0], except: [7] }],
    ['a holder whose name is not a string', { ...renewals[2], holder: { owner: 7 } }],
    ['a time beyond the year 9999', { ...started, at: '+275760-09-13T00:00:00.000Z' }],
    ['a holder that is not an object', { ...renewals[2], holder: 'grace' }],
  ])('rejects %s', (_, entry) => {
    expect(read(entry)).toBeUndefined();
  });

  test.each<readonly [string, unknown]>([
    ...[1.5, '7', null, []].map((fence) => ['fence', fence] as const),
    ...['path', 'type', 'expires_at'].map((name) => [name, undefined] as const),
  ])('rejects a grant whose lock has an invalid %s: %j', (name, value) => {
    const entry = grant('a', '1');
    expect(read({ ...entry, lock: { ...entry.lock, [name]: value } })).toBeUndefined();
  });
});

describe('the history of a step', () => {
  const [one, two] = [grant('a', '1'), grant('a', '2')];
  const renamed: Entry = { kind: 'ended', ...addressOf('a'), at, id: 'lock_1', etag: '"v2"' };
  const nameless = grantOf('a', { key: '1', lock: lockOf('a') });
  const namelessAgain = { ...nameless, key: '2' };
  const endedFirst = ended('a', undefined, '1');
  const elsewhere = [{ workspace: workspaceId('film') }, { service: 'https://other.example/v1' }].map(
    (other): Entry => ({ ...ended('a'), ...other }),
  );

  test.each<[string, readonly Entry[], held: readonly string[], unanswered?: readonly string[]]>([
    ['granted locks that have not ended', [intent('a', '1'), one, grant('b', '2'), ended('a')], ['2']],
    ['requests without an answer', [intent('a', '1'), intent('b', '2'), denied('b', '2')], [], ['1']],
    ['no locks of another step', [intent('a', '1', 't'), grant('b', '2', 't')], []],
    ['a lock once if its grant was recorded twice', [intent('a', '1'), one, one], ['1']],
    ['a grant whose intent was damaged', [one], ['1']],
    ['the second lock on a path if an ending names the first', [one, two, ended('a', 'lock_1')], ['2']],
    ['no lock that ended under another ETag', [one, renamed], []],
    ['the older of two locks if an ending names neither', [one, two, ended('a')], ['1']],
    ['no lock that ended, by its key', [nameless, namelessAgain, endedFirst], ['2']],
    ['the newer of two locks if the older one ended twice', [one, two, endedFirst, endedFirst], ['2']],
    ['a lock whose path ended in another workspace or service only', [one, ...elsewhere], ['1']],
    ['a lock that was taken again after the first one ended', [one, ended('a', 'lock_1'), two], ['2']],
    ['no unidentified lock after an ending of its path', [nameless, ended('a', 'lock_9')], []],
  ])('contains %s', (_, entries, held, unanswered = []) => {
    const history = historyOf(entries);
    const own = history.held.map((lock) => lock.grant).filter(({ step }) => step === 's');
    expect(own.map(({ key }) => key)).toEqual(held);
    expect(history.unanswered.filter(({ step }) => step === 's').map(({ key }) => key)).toEqual(unanswered);
  });

  test('still knows that a path was granted again once the later lock has ended', () => {
    const { held } = historyOf([nameless, namelessAgain, ended('a', undefined, '2')]);
    expect(held).toMatchObject([{ grant: nameless, grantedAgain: true }]);
    const ledger = freshLedger();
    ledger.append(nameless, namelessAgain, ended('a', undefined, '2'));
    // A step that locks the path must not take the current lock for that of the first step.
    expect(readJobLocks(ledger, place.service, place.workspace).held.size).toBe(0);
  });

  test('says whether the job has ended a lock that was handed over, even without id and ETag', () => {
    const hasEnded = (lock: { readonly id?: string }, ...entries: Entry[]): boolean => {
      const ledger = freshLedger();
      ledger.append(...entries);
      return readJobLocks(ledger, place.service, place.workspace).hasEnded({ path: lockPath('a'), ...lock });
    };
    expect(hasEnded({}, nameless)).toBe(false);
    expect(hasEnded({}, nameless, endedFirst)).toBe(true);
    expect(hasEnded({}, nameless, endedFirst, namelessAgain)).toBe(false);
    expect(hasEnded({ id: 'lock_1' }, one, two, ended('a', 'lock_1'))).toBe(true);
    expect(hasEnded({ id: 'lock_2' }, one, two, ended('a', 'lock_1'))).toBe(false);
  });

  test('says whether the job has released a lock of another job, or may have, but not if the service refused that', () => {
    const hasEnded = (...entries: readonly Entry[]): boolean => {
      const ledger = freshLedger();
      ledger.append(...entries);
      return readJobLocks(ledger, place.service, place.workspace).hasEnded({ path: lockPath('a'), id: 'lock_1' });
    };
    const begun = releasing('a', 'lock_1');
    const refused: Entry = { kind: 'releasing', ...addressOf('a'), at, ...proofOf('lock_1'), failed: true };
    expect(hasEnded(begun)).toBe(true);
    expect(hasEnded(begun, ended('a', 'lock_1'))).toBe(true);
    expect(hasEnded(ended('a', 'lock_1'))).toBe(true);
    expect(hasEnded(begun, refused)).toBe(false);
    expect(hasEnded(begun, begun, refused)).toBe(true);
    expect(hasEnded(begun, refused, begun, ended('a', 'lock_1'))).toBe(true);
    expect(hasEnded(releasing('a', 'lock_2'), releasing('b', 'lock_1'), ...elsewhere)).toBe(false);
  });

  test('marks a lock as possibly released only after its release has started', () => {
    const mayBeReleased = (...entries: readonly Entry[]): readonly boolean[] =>
      historyOf(entries).held.map(({ mayBeReleased }) => mayBeReleased);
    expect(mayBeReleased(one, two)).toEqual([false, false]);
    expect(mayBeReleased(one, two, releasing('a', 'lock_1'))).toEqual([true, false]);
    expect(mayBeReleased(one, two, releasing('a'))).toEqual([false, true]);
    expect(mayBeReleased(nameless, namelessAgain, releasing('a', undefined, '1'))).toEqual([true, false]);
    expect(mayBeReleased(one, two, releasing('b'))).toEqual([false, false]);
    expect(mayBeReleased(releasing('a'), one, two)).toEqual([false, false]);
  });

  test('never counts a lock as both held and unanswered, and has only recorded entries', () => {
    const asked = fc.tuple(fc.constantFrom('a', 'b'), fc.constantFrom('1', '2', '3'), fc.constantFrom('s', 't'));
    const entry = fc.oneof(
      ...[intent, grant].map((make) => asked.map((its): Entry => make(...its))),
      asked.map(([path, key]) => denied(path, key)),
      asked.map(([path, key]) => ended(path, `lock_${key}`)),
      asked.map(([path]) => ended(path)),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const { held, unanswered } = historyOf(entries);
        for (const each of [...held.map((lock) => lock.grant), ...unanswered]) expect(entries).toContainEqual(each);
        for (const { key } of unanswered) {
          const later = entries.slice(entries.findLastIndex((each) => each.kind === 'intent' && each.key === key));
          const answers = later.filter((each) => each.kind === 'granted' || each.kind === 'ended');
          expect(answers.map((response) => response.key)).not.toContain(key);
        }
      }),
      { numRuns: 500 },
    );
  });
});
