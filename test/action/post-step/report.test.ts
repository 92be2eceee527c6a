import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Entry, GrantedLock, Loss } from '../../../src/action/ledger/entry.ts';
import type { ClaimResult } from '../../../src/action/post-step/claims.ts';
import { type Bar, chartOf, gantt, manualReleaseCommand, releaseReport } from '../../../src/action/post-step/report.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { asItIs, at, grantOf, intentOf, iso, knownLock, lockOf, place, start } from '../samples.ts';

const minute = 60_000;
const report = (results: readonly ClaimResult[], onLost: 'fail' | 'warn' = 'fail') =>
  releaseReport(results, { chart: undefined, now: start + 30 * minute, onLost });

const grant = grantOf('a');
const over = grantOf('a', { lock: lockOf('a', { expires_at: iso(10 * minute) }) });
const intent = intentOf('i');
const loss: Loss = { kind: 'lost', ...place, step: 's', path: 'a', key: 'a', at: iso(20 * minute) };
const why = 'It lost its connection.';
const lost = (path: string, its = grantOf(path)): ClaimResult => ({ kind: 'lost', grant: its, holder: undefined });

describe('the end of a job', () => {
  test.each<[ClaimResult, number]>([
    [{ kind: 'released', grant }, 0],
    [{ kind: 'gone', grant }, 0],
    [{ kind: 'gone', grant: over }, 1],
    [{ kind: 'replaced', grant, holder: undefined }, 1],
    [{ kind: 'left-alone', grant }, 1],
    [{ kind: 'failed', grant, why }, 1],
    [{ kind: 'unproven', intent, why }, 1],
    [{ kind: 'never-granted', intent }, 0],
  ])('fails no job for %j, and warns of what stays or did not last', (result, warnings) => {
    expect(report([result]).failures).toEqual([]);
    expect(report([result]).warnings).toHaveLength(warnings);
  });

  test('fails the job for each lock that it lost, or warns once of all where it is told to', () => {
    const results = [lost('a'), lost('b')];
    expect(report(results).failures).toHaveLength(2);
    expect(report(results, 'warn').failures).toEqual([]);
    expect(report(results, 'warn').warnings).toHaveLength(1);
  });

  test('says of a lost lock whether a longer ttl would have kept it', () => {
    expect(report([lost('a', over)]).failures[0]).toContain('a longer `ttl` would have kept it');
    expect(report([lost('a')]).failures[0]).toContain('Somebody had released it before its end.');
  });

  const renewalTrouble = 'The service was down.';
  test.each<[string, Partial<Extract<ClaimResult, { kind: 'lost' }>>, RegExp]>([
    [
      'was refused and nobody has',
      { loss, holder: 'nobody' },
      /^The lock on a was lost at 12:20 UTC \(10 min ago\), when the service refused to renew it\. Nobody holds a now\.$/,
    ],
    [
      'was refused and another has',
      { loss, holder: knownLock('a') },
      /refused to renew it\. a is held by grace until 13:00 UTC/,
    ],
    [
      'was refused after trouble',
      { loss, holder: 'nobody', renewalTrouble },
      /Nobody holds a now\. It could not be renewed: The service was down\.$/,
    ],
    [
      'ended in trouble',
      { grant: over, holder: 'nobody', renewalTrouble },
      /^The lock on a was lost while the job relied on it\. It had ended at 12:10 UTC \(20 min ago\)\. It could not be renewed: The service was down\.$/,
    ],
    [
      'ended in trouble and another has',
      { grant: over, holder: knownLock('a'), renewalTrouble },
      /It had ended at 12:10 UTC \(20 min ago\)\. a is held by grace .* left alone\. It could not be renewed: The service was down\.$/,
    ],
  ])('says of a renewed lock that %s when it was lost and why', (_, more, expected) => {
    const result: ClaimResult = { kind: 'lost', grant, holder: undefined, ...more };
    expect(report([result]).failures).toEqual([expect.stringMatching(expected)]);
    expect(report([result], 'warn').warnings).toEqual([expect.stringMatching(expected)]);
  });

  test('names five locks that could not be released with how to release them, and counts the others', () => {
    const failed = Array.from({ length: 8 }, (_, n): ClaimResult => ({ kind: 'failed', grant: grantOf(`f${n}`), why }));
    const { warnings, lines } = report(failed);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.match(/curl -X DELETE/g)).toHaveLength(5);
    expect(warnings[0]).toContain('And 3 more');
    expect(warnings[0]).not.toContain('(DELETE');
    expect(lines).toHaveLength(8);
  });

  test('says of a lock that could not be released why, what to do, and last which request it was', () => {
    const request = 'DELETE /v1/workspaces/game/locks/a: 503 Service Unavailable';
    const [warning] = report([{ kind: 'failed', grant, why, request }]).warnings;
    expect(warning).toMatch(
      /^1 lock could not .*\. It lost its connection\. To release it yourself: a \(.*\): curl .*'/,
    );
    expect(warning?.endsWith(`' (${request}).`)).toBe(true);
  });

  test('has the times of its table with their dates, and no ids', () => {
    const { table } = report([
      { kind: 'released', grant },
      { kind: 'never-granted', intent },
    ]);
    expect(table).toEqual({
      head: ['Path', 'Result', 'Ends'],
      rows: [
        ['a', 'released', '2026-03-01 13:00 UTC'],
        ['i', 'was never granted', ''],
      ],
      rest: { text: 'all locks of game', address: 'https://workspaces.example.com/workspaces/game/locks' },
    });
  });

  test('begins with what a person has to look at, and leaves out of the sentence what never was', () => {
    const { sentence, table } = report([
      { kind: 'never-granted', intent },
      { kind: 'released', grant: grantOf('b') },
      { kind: 'failed', grant: grantOf('c'), why: '' },
      lost('a'),
    ]);
    expect(table.rows.map(([path]) => path)).toEqual(['a', 'c', 'b', 'i']);
    expect(sentence).toBe('Released 1 lock at the end of the job, 1 lost to another holder, 1 not released.');
  });
});

describe('a lock is released by hand', () => {
  const command = (path: string, lock: Partial<GrantedLock> = {}): string =>
    manualReleaseCommand(grantOf(path, { workspace: 'game assets', lock: lockOf(path, lock) }));

  test('by its address, on the condition that it still is that lock', () => {
    expect(command('Content/Hero.uasset', { id: 'l1' })).toBe(
      `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>' -H 'If-Match: "l1"' 'https://workspaces.example.com/v1/workspaces/game%20assets/locks/Content%2FHero.uasset'`,
    );
    expect(command('a', { id: 'l1', etag: '"v2"' })).toContain(`-H 'If-Match: "v2"'`);
    expect(command('a')).not.toContain('If-Match');
  });

  test('pasted into a shell, whatever a path or a service has in it is words of one command', () => {
    const text = (...more: readonly string[]) =>
      fc.string({ unit: fc.constantFrom("'", '$', '(', ')', '`', ';', '&', '|', '!', 'a', ...more), maxLength: 8 });
    const path = text('"', ' ', '*', 'ä').filter((each) => parseLockPath(each).ok);
    const samples = fc.sample(fc.record({ path, tag: text() }), { numRuns: 40 });
    // A function stands for curl; it tells what it was given, a word a line.
    const script = samples.map((one) => command(one.path, { etag: `"${one.tag}"` })).join('\n');
    const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${script}`], { encoding: 'utf8' });
    const address = 'https://workspaces.example.com/v1/workspaces/game%20assets/locks';
    const options = ['-X', 'DELETE', '-H', 'Authorization: Bearer <API_TOKEN>', '-H'];
    expect(words.trimEnd().split('\n')).toEqual(
      samples.flatMap((one) => [...options, `If-Match: "${one.tag}"`, `${address}/${encodeURIComponent(one.path)}`]),
    );
  });
});

describe('the chart', () => {
  const granted = start + 90_000;
  const bar = (path: string, more: Partial<Bar> = {}): Bar => ({
    path,
    asked: start,
    granted,
    ended: start + 600_000,
    released: true,
    ...more,
  });
  const head = [
    'gantt',
    '    title 2026-03-01 12:00 UTC to 2026-03-01 12:10 UTC',
    '    dateFormat YYYY-MM-DD HH:mm:ss.SSS',
    '    axisFormat %H:%M:%S',
  ];
  const time = '(\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d\\.\\d{3})';
  const msOf = (text = ''): number => Date.parse(`${text.replace(' ', 'T')}Z`);

  test('has a wait and a hold as two bars in the row of the path, at the times of UTC, whatever the zone of the reader', () => {
    const column = '%%{init: {"gantt": {"leftPadding": 172}}}%%';
    const section = '    section Content/Hero.uasset';
    const bars = [
      '    waited :done, 2026-03-01 12:00:00.000, 2026-03-01 12:01:30.000',
      '    held :active, 2026-03-01 12:01:30.000, 2026-03-01 12:10:00.000',
    ];
    const lines = ['```mermaid', column, ...head, section, ...bars, '```', ''];
    expect(gantt([bar('Content/Hero.uasset')])).toBe(lines.join('\n'));
  });

  const letters = fc.constantFrom('W', 'm', '_', 'i', '/', '漢', 'é');

  test('has its names beside the bars, in a column with room for the widest, and no name twice', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: letters, maxLength: 80 }), { minLength: 1, maxLength: 6 }), (paths) => {
        const picture = gantt(paths.map((path) => bar(path))) ?? '';
        const [, width] = /^%%\{init: \{"gantt": \{"leftPadding": (\d+)\}\}\}%%$/m.exec(picture) ?? [];
        const names = [...picture.matchAll(/^ {4}section (.*)$/gm)].map(([, name = '']) => name);
        expect(new Set(names).size).toBe(paths.length);
        for (const name of names) {
          // Ten pixels before a name of 11 pixels, in which Latin letters are 8 wide on average and others square.
          const wide = [...name].filter((letter) => letter === '漢').length;
          expect(Number(width)).toBeGreaterThanOrEqual(10 + 8 * (name.length - wide) + 11 * wide);
          expect(name.length).toBeLessThan(42);
        }
      }),
    );
  });

  test.each<[string, Partial<Bar>, RegExp]>([
    ['leaves out a wait too short to be seen', { granted: start + 999 }, /^(?!.*waited)/s],
    ['makes a lock stand out that was not released', { released: false }, /\n {4}not released :crit, /],
    ['has a bar for a lock that ended at once', { ended: start }, /held.* 12:01:30\.000, 2026-03-01 12:01:30\.001$/m],
    ['shows the end of a long path', { path: `${'folder/'.repeat(30)}Hero.uasset` }, /section ….{20,}\/Hero\.uasset/],
  ])('%s', (_, more, expected) => {
    expect(gantt([bar('a', more)])).toMatch(expected);
  });

  describe('of locks that were renewed', () => {
    const marksOf = (renewals: readonly number[], more: Partial<Bar> = {}) => {
      const picture = gantt([bar('a', { renewals: () => renewals, ...more })]) ?? '';
      const part = new RegExp(`^ {4}(held|renewed|not released) :(active|crit), ${time}, ${time}$`, 'gm');
      const parts = [...picture.matchAll(part)];
      return { picture, parts: parts.map(([, name, kind, from, to]) => [name, kind, msOf(from), msOf(to)] as const) };
    };

    test('has a mark for each renewal within the bar, all in one row', () => {
      const ended = start + 600_000;
      const times = [granted, granted + 2, ended, ended + 1, granted - 1, granted + 1, Number.NaN];
      const { picture, parts } = marksOf(times);
      expect(picture).toMatch(/^```mermaid\n---\ndisplayMode: compact\n---\n%%\{init: .*\}%%\ngantt\n/);
      const rest = [
        ['renewed', 'active', granted + 1, granted + 2],
        ['renewed', 'active', granted + 2, ended],
      ];
      expect(parts).toEqual([['held', 'active', granted, granted + 1], ...rest]);
      expect(marksOf([granted + 1], { released: false }).parts.map(([name, kind]) => [name, kind])).toEqual([
        ['not released', 'crit'],
        ['renewed', 'crit'],
      ]);
    });

    test('has 24 of them at most, evenly and in their order, whatever the times are', () => {
      fc.assert(
        fc.property(fc.array(fc.integer({ min: -1_000, max: 601_000 }), { maxLength: 200 }), (times) => {
          const { parts } = marksOf(times.map((time) => start + time));
          expect(parts.length).toBeLessThanOrEqual(25);
          for (const [index, [, , from, to]] of parts.entries()) {
            expect(to).toBeGreaterThanOrEqual(from);
            expect(from).toBe(parts[index - 1]?.[3] ?? granted);
          }
          expect(parts.at(-1)?.[3]).toBe(start + 600_000);
        }),
      );
      const { parts } = marksOf(Array.from({ length: 480 }, (_, index) => granted + 1_000 * (index + 1)));
      expect(new Set(parts.slice(0, -1).map(([, , from, to]) => to - from))).toEqual(new Set([20_000]));
    });

    test('has none where nothing was renewed, and is as it was', () => {
      for (const renewals of [[], [granted - 1]]) expect(marksOf(renewals).picture).toBe(gantt([bar('a')]));
    });

    test('is drawn from the ledger: nothing of a lock after it was lost, or in a round that left it out', () => {
      const round = (ms: number, except?: readonly string[]): Entry => ({
        kind: 'renewed',
        ...place,
        step: 's',
        at: iso(ms),
        expires_at: at,
        except,
      });
      const again = (path: string, ms: number) =>
        grantOf(path, { at: iso(ms), lock: lockOf(path, { etag: `"v${ms}"` }) });
      const rounds = [round(minute), round(2 * minute, ['a']), { ...round(3 * minute), step: 't' }, round(4 * minute)];
      const entries = [
        grantOf('a'),
        grantOf('b'),
        again('b', minute),
        ...rounds,
        { ...loss, path: 'b', key: 'b', at: iso(3 * minute) },
      ];
      const ledger = { file: '', append: () => undefined, read: () => ({ entries, damaged: 0 }) };
      const picture = chartOf(ledger, { step: 's', without: new Set(), now: start + 5 * minute, redact: asItIs }) ?? '';
      const ends = (path: string) =>
        (picture.split(`section ${path}\n`)[1]?.split('section')[0] ?? '').matchAll(
          new RegExp(`, ${time}, ${time}`, 'g'),
        );
      const minutes = (path: string) =>
        [...ends(path)].map(([, from, to]) => [from, to].map((each) => (msOf(each) - start) / minute));
      expect(minutes('a')).toEqual([
        [0, 1],
        [1, 4],
        [4, 5],
      ]);
      expect(minutes('b')).toEqual([
        [0, 1],
        [1, 2],
        [2, 3],
      ]);
    });
  });

  test('leaves out what has no times, and is none of nothing', () => {
    const timeless = bar('a', { granted: Number.NaN });
    expect(gantt([timeless, bar('b')])).not.toContain('section a');
    // Mermaid reads no time before 1970, nor a year of five digits.
    const [early, late] = [bar('a', { asked: -1 }), bar('a', { ended: Date.UTC(10_000, 0) })];
    for (const bars of [[timeless], [early], [late], []]) expect(gantt(bars)).toBeUndefined();
  });

  test('has the first of many locks, in the order of their paths, and says how many there are', () => {
    const names = Array.from({ length: 1_234 }, (_, index) => `f${String(index).padStart(4, '0')}`);
    const picture = gantt(names.toReversed().map((name) => bar(name))) ?? '';
    expect(picture.match(/section (\S+)/g)).toEqual(names.slice(0, 30).map((name) => `section ${name}`));
    expect(picture).toMatch(/\n```\n\nThe chart shows the first 30 of 1,234 locks\.\n$/);
  });

  test('has one row for each path, whatever it is, and nothing gets out of it', () => {
    const unit = fc.constantFrom('`', '~', '\n', ':', ';', '#', '%', '{', '}', 'a', ' ', ',', '\\', '<', '"');
    const anyPath = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit }),
      fc.constantFrom('```\n# Title', '%%{init: {}}%%', 'a:b;c', 'section x', 'click a href "x"', '__proto__'),
    );
    fc.assert(
      fc.property(fc.array(anyPath, { minLength: 1, maxLength: 5 }), (paths) => {
        const lines = (gantt(paths.map((path) => bar(path))) ?? '').split('\n');
        const [fence, column, ...rest] = lines;
        expect([fence, ...rest.slice(0, 4)]).toEqual(['```mermaid', ...head]);
        expect(column).toMatch(/^%%\{init: \{"gantt": \{"leftPadding": \d+\}\}\}%%$/);
        expect(lines.slice(-2)).toEqual(['```', '']);
        const rows = rest.slice(4, -2);
        expect(rows).toHaveLength(3 * paths.length);
        for (const [index, line] of rows.entries()) {
          // What Mermaid takes for the text of a section and of a task, and nothing that it takes for something else.
          if (index % 3 === 0) expect(line).toMatch(/^ {4}section [^:;#%`{}<>"\\]*$/);
          else expect(line).toMatch(new RegExp(`^ {4}(waited :done|held :active), ${time}, ${time}$`));
        }
      }),
      { numRuns: 300 },
    );
  });
});
