import { appendFile, mkdtemp, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Entry, type Grant, type GrantedLock, type Intent, readEntry } from '../../src/action/ledger/entry.ts';
import { historyOf } from '../../src/action/ledger/history.ts';
import { ledgerFile, openLedger } from '../../src/action/ledger/ledger.ts';
import { parseWorkspaceId } from '../../src/client/workspace-id.ts';
import { parseLockPath } from '../../src/interface/lock-path.ts';
import { leaveOut } from '../support/left-out.ts';

const asItIs = (text: string): string => text;

let folder: string;
let count = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ledger-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const freshFile = (): string => {
  count += 1;
  return ledgerFile(join(folder, String(count)));
};

const place = { service: 'https://workspaces.example.com/v1', workspace: 'game' };
const at = '2026-03-01T12:00:00.000Z';

const intent = (step: string, path: string, key: string, more: Partial<Intent> = {}): Intent => ({
  kind: 'intent',
  ...place,
  path,
  step,
  at,
  key,
  type: 'exclusive',
  ttl: '1h',
  byService: true,
  ...more,
});

const lockOf = (path: string, id: string | undefined): GrantedLock => ({
  path,
  type: 'exclusive',
  ...(id !== undefined && { id, etag: `"${id}"` }),
  expires_at: '2026-03-01T13:00:00.000Z',
});

const grant = (step: string, path: string, key: string, id: string | undefined = `lock_${key}`): Grant => ({
  kind: 'granted',
  ...place,
  path,
  step,
  at,
  key,
  waitedMs: 0,
  lock: lockOf(path, id),
});

const ended = (path: string, id?: string): Entry => ({
  kind: 'ended',
  ...place,
  path,
  at,
  how: 'released',
  ...(id !== undefined && { id, etag: `"${id}"` }),
});

const releasing = (path: string, id?: string): Entry => ({
  kind: 'releasing',
  ...place,
  path,
  at,
  ...(id !== undefined && { id, etag: `"${id}"` }),
});

const denied = (step: string, path: string, key: string): Entry => ({ kind: 'denied', ...place, path, step, at, key });

const text = fc.string({ unit: 'binary', maxLength: 12 }).map((value) => value.toWellFormed());
const optional = fc.option(text, { nil: undefined });
const ttlText = fc.integer({ min: 1, max: 100 }).map((hours) => `${hours}h`);
const valid = (parse: (value: string) => { readonly ok: boolean }) => text.filter((value) => parse(value).ok);
const where = {
  service: text,
  workspace: valid(parseWorkspaceId),
  path: valid(parseLockPath).map((value) => value.normalize('NFC')),
  at: text,
};

/** As they come back from the disk, where what is undefined is not there. */
const anyEntry: fc.Arbitrary<Entry> = fc
  .oneof(
    fc.record({
      kind: fc.constant('intent' as const),
      ...where,
      step: text,
      key: text,
      type: text,
      ttl: ttlText,
      byService: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('granted' as const),
      ...where,
      step: text,
      key: text,
      waitedMs: fc.nat(),
      lock: fc.record({
        path: text,
        type: text,
        id: optional,
        etag: optional,
        owner: optional,
        acquired_at: optional,
        fence: fc.option(fc.nat(), { nil: undefined }),
        expires_at: text,
      }),
    }),
    fc.record({ kind: fc.constant('denied' as const), ...where, step: text, key: text }),
    fc.record({
      kind: fc.constant('plan' as const),
      service: text,
      workspace: text,
      step: text,
      stepName: optional,
      at: text,
      paths: fc.array(text),
    }),
    fc.record({ kind: fc.constant('releasing' as const), ...where, id: optional, etag: optional }),
    fc.record({
      kind: fc.constant('ended' as const),
      ...where,
      how: fc.constantFrom('released', 'absent', 'lost'),
      id: optional,
      etag: optional,
    }),
  )
  .map((entry): Entry => JSON.parse(JSON.stringify(entry)));

const entriesIn = (file: string): readonly Entry[] => openLedger(file, asItIs).read().entries;

describe('the file', () => {
  test('gives back what was put into it, in its order, whatever the texts are', () => {
    fc.assert(
      fc.property(fc.array(anyEntry, { minLength: 1, maxLength: 8 }), (entries) => {
        const ledger = openLedger(freshFile(), asItIs);
        for (const entry of entries) ledger.append(entry);
        expect(ledger.read()).toEqual({ entries, damaged: 0 });
      }),
      { numRuns: 50 },
    );
  });

  test('takes several entries at once, and from several steps one after the other', () => {
    const file = freshFile();
    const one = intent('one', 'a', '1');
    const other = [grant('two', 'b', '2'), ended('b')];
    openLedger(file, asItIs).append(one);
    openLedger(file, asItIs).append(...other);
    expect(entriesIn(file)).toEqual([one, ...other]);
  });

  test('is for nobody else to read', async (context) => {
    if (process.platform === 'win32') leaveOut(context, 'Windows has no file modes.');
    const file = freshFile();
    openLedger(file, asItIs).append(ended('a'));
    expect((await stat(file)).mode & 0o077).toBe(0);
    expect((await stat(join(file, '..'))).mode & 0o077).toBe(0);
  });

  test('that is missing is told to whoever reads it', () => {
    expect(() => openLedger(freshFile(), asItIs).read()).toThrow(/ENOENT/);
  });

  test('cut off anywhere, loses nothing but its last line, and what comes later is read', async () => {
    const file = freshFile();
    const [first, second, third] = [grant('s', 'a', '1'), grant('s', 'b', '2'), ended('a')];
    const ledger = openLedger(file, asItIs);
    ledger.append(first, second);
    const length = (await stat(file)).size;
    const lineLength = Buffer.byteLength(JSON.stringify(second));
    for (const missing of [2, 3, 10, lineLength - 5, lineLength]) {
      await truncate(file, length - missing);
      ledger.append(third);
      expect(ledger.read()).toEqual({ entries: [first, third], damaged: 1 });
      await truncate(file, 0);
      ledger.append(first, second);
    }
  });

  test('with damaged lines tells how many, and gives the others', async () => {
    const file = freshFile();
    const ledger = openLedger(file, asItIs);
    ledger.append(grant('s', 'a', '1'));
    await appendFile(file, '{"kind":"granted"\n\n[]\nnull\n\u0000\u0000\n{"kind":"other"}\n"text"\n');
    ledger.append(ended('a'));
    expect(ledger.read()).toEqual({ entries: [grant('s', 'a', '1'), ended('a')], damaged: 6 });
  });

  test('of any bytes is read without an error', async () => {
    const file = freshFile();
    openLedger(file, asItIs).append(ended('a'));
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await writeFile(file, bytes);
        expect(openLedger(file, asItIs).read().entries).toEqual([]);
      }),
      { numRuns: 50 },
    );
  });

  test('has no secret that the service sent back, and our own words as they are', async () => {
    const file = freshFile();
    const conceal = (value: string): string => value.replaceAll('hero', '***');
    const lock = { ...lockOf('hero', 'hero'), owner: 'hero', acquired_at: 'hero', expires_at: 'hero' };
    openLedger(file, conceal).append(
      intent('hero', 'hero', 'hero'),
      { ...grant('s', 'hero', 'k'), lock },
      ended('hero', 'hero'),
    );
    expect(entriesIn(file)).toEqual([
      intent('hero', 'hero', 'hero'),
      {
        ...grant('s', 'hero', 'k'),
        lock: { ...lockOf('hero', '***'), owner: '***', acquired_at: '***', expires_at: '***' },
      },
      ended('hero', '***'),
    ]);
    expect(await readFile(file, 'utf8')).toContain('"hero"');
  });
});

describe('an entry without', () => {
  const samples: readonly Entry[] = [
    { kind: 'plan', ...place, step: 's', at, paths: ['a'] },
    intent('s', 'a', '1'),
    grant('s', 'a', '1'),
    denied('s', 'a', '1'),
    releasing('a'),
    ended('a'),
  ];
  const members = samples.flatMap((entry) => Object.keys(entry).map((name) => ({ kind: entry.kind, name, entry })));

  test.each(members.filter(({ name }) => name !== 'id' && name !== 'etag'))('$name is no $kind', ({ name, entry }) => {
    expect(readEntry(JSON.stringify(entry))).toEqual(entry);
    const { [name]: _, ...rest }: Record<string, unknown> = { ...entry };
    expect(readEntry(JSON.stringify(rest))).toBeUndefined();
    expect(readEntry(JSON.stringify({ ...entry, [name]: [7] }))).toBeUndefined();
  });

  test('a name of its step, as older versions wrote it, is a plan all the same', () => {
    const [plan] = samples;
    expect(readEntry(JSON.stringify({ ...plan, stepName: 'lock-hero' }))).toEqual({ ...plan, stepName: 'lock-hero' });
    expect(readEntry(JSON.stringify({ ...plan, stepName: 7 }))).toBeUndefined();
  });

  test.each([1.5, '7', null, []])('a fence that is a number is no grant: %j', (fence) => {
    const entry = grant('s', 'a', '1');
    expect(readEntry(JSON.stringify({ ...entry, lock: { ...entry.lock, fence } }))).toBeUndefined();
  });

  test.each(['path', 'type', 'expires_at'])('the %s of its lock is no grant', (name) => {
    const { lock, ...rest } = grant('s', 'a', '1');
    const { [name]: _, ...partial }: Record<string, unknown> = { ...lock };
    expect(readEntry(JSON.stringify({ ...rest, lock: partial }))).toBeUndefined();
  });
});

describe('what a step has to answer for', () => {
  const keysOf = (entries: readonly Entry[], step = 's') => {
    const { held, unclear } = historyOf(entries);
    return {
      held: held.filter(({ grant }) => grant.step === step).map(({ grant }) => grant.key),
      unclear: unclear.filter((asked) => asked.step === step).map(({ key }) => key),
    };
  };

  test('is what was granted to it and has not ended', () => {
    expect(
      keysOf([intent('s', 'a', '1'), grant('s', 'a', '1'), intent('s', 'b', '2'), grant('s', 'b', '2'), ended('a')]),
    ).toEqual({
      held: ['2'],
      unclear: [],
    });
  });

  test('is what it asked for without an answer', () => {
    expect(keysOf([intent('s', 'a', '1'), intent('s', 'b', '2'), denied('s', 'b', '2')])).toEqual({
      held: [],
      unclear: ['1'],
    });
  });

  test('is not what another step has', () => {
    expect(keysOf([intent('t', 'a', '1'), grant('t', 'b', '2')])).toEqual({ held: [], unclear: [] });
  });

  test('is known to be doubtful once its release was begun, and only then', () => {
    const doubts = (...entries: readonly Entry[]): readonly boolean[] =>
      historyOf(entries).held.map(({ releaseBegun }) => releaseBegun);
    const two = [grant('s', 'a', '1'), grant('s', 'a', '2')];
    expect(doubts(...two)).toEqual([false, false]);
    expect(doubts(...two, releasing('a', 'lock_1'))).toEqual([true, false]);
    expect(doubts(...two, releasing('a'))).toEqual([true, true]);
    expect(doubts(...two, releasing('b'))).toEqual([false, false]);
    expect(doubts(releasing('a'), ...two)).toEqual([false, false]);
  });

  test('is one lock, when its answer was given twice', () => {
    expect(keysOf([intent('s', 'a', '1'), grant('s', 'a', '1'), grant('s', 'a', '1')]).held).toEqual(['1']);
  });

  test('is a grant whose intent was damaged', () => {
    expect(keysOf([grant('s', 'a', '1')])).toEqual({ held: ['1'], unclear: [] });
  });

  test('is the second lock on a path, when an ending names the first', () => {
    const entries = [grant('s', 'a', '1'), grant('s', 'a', '2')];
    expect(keysOf([...entries, ended('a', 'lock_1')]).held).toEqual(['2']);
    expect(keysOf([...entries, ended('a')]).held).toEqual([]);
  });

  test('is nothing that ended in another workspace, or at another service', () => {
    const elsewhere: readonly Entry[] = [
      { ...ended('a'), workspace: 'film' },
      { ...ended('a'), service: 'https://other.example/v1' },
    ];
    expect(keysOf([grant('s', 'a', '1'), ...elsewhere]).held).toEqual(['1']);
  });

  test('is a lock that was taken again after it had ended', () => {
    expect(keysOf([grant('s', 'a', '1'), ended('a', 'lock_1'), grant('s', 'a', '2')]).held).toEqual(['2']);
  });

  test('is ended for a lock that nothing names, by an ending of its path', () => {
    expect(keysOf([{ ...grant('s', 'a', '1'), lock: lockOf('a', undefined) }, ended('a', 'lock_9')]).held).toEqual([]);
  });

  test('is never both held and unclear, and never more than was asked for', () => {
    const paths = fc.constantFrom('a', 'b');
    const keys = fc.constantFrom('1', '2', '3');
    const steps = fc.constantFrom('s', 't');
    const entry = fc.oneof(
      fc.tuple(steps, paths, keys).map(([step, path, key]): Entry => intent(step, path, key)),
      fc.tuple(steps, paths, keys).map(([step, path, key]): Entry => grant(step, path, key)),
      fc.tuple(steps, paths, keys).map(([step, path, key]): Entry => denied(step, path, key)),
      fc.tuple(paths, fc.option(keys, { nil: undefined })).map(([path, key]) => ended(path, key && `lock_${key}`)),
    );
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 20 }), (entries) => {
        const { held, unclear } = historyOf(entries);
        for (const one of [...held.map((lock) => lock.grant), ...unclear]) expect(entries).toContainEqual(one);
        for (const { key } of unclear) {
          const later = entries.slice(entries.findLastIndex((each) => each.kind === 'intent' && each.key === key));
          expect(later.some((each) => (each.kind === 'granted' || each.kind === 'denied') && each.key === key)).toBe(
            false,
          );
        }
      }),
      { numRuns: 500 },
    );
  });
});
