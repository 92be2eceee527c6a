import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GrantedLock } from '../../../src/action/ledger/entry.ts';
import type { ClaimResult } from '../../../src/action/post-step/claims.ts';
import { type Bar, gantt, manualReleaseCommand, releaseReport } from '../../../src/action/post-step/report.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import { grantOf, intentOf, iso, lockOf, start } from '../samples.ts';

const minute = 60_000;
const report = (results: readonly ClaimResult[], onLost: 'fail' | 'warn' = 'fail') =>
  releaseReport(results, { chart: undefined, now: start + 30 * minute, onLost });

const grant = grantOf('a');
const over = grantOf('a', { lock: lockOf('a', { expires_at: iso(10 * minute) }) });
const intent = intentOf('i');
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

  test('names five locks that could not be released with how to release them, and counts the others', () => {
    const failed = Array.from({ length: 8 }, (_, n): ClaimResult => ({ kind: 'failed', grant: grantOf(`f${n}`), why }));
    const { warnings, lines } = report(failed);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]?.match(/curl -X DELETE/g)).toHaveLength(5);
    expect(warnings[0]).toContain('And 3 more');
    expect(lines).toHaveLength(8);
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
  const head = ['```mermaid', 'gantt', '    dateFormat x', '    axisFormat %H:%M:%S'];

  test('has a wait and a hold as two bars in the row of the path', () => {
    const section = '    section Content/Hero.uasset';
    const bars = [`    waited :done, ${start}, ${granted}`, `    held :active, ${granted}, ${start + 600_000}`];
    expect(gantt([bar('Content/Hero.uasset')])).toBe([...head, section, ...bars, '```', ''].join('\n'));
  });

  test.each<[string, Partial<Bar>, RegExp]>([
    ['leaves out a wait too short to be seen', { granted: start + 999 }, /^(?!.*waited)/s],
    ['makes a lock stand out that was not released', { released: false }, /\n {4}not released :crit, /],
    ['has a bar for a lock that ended at once', { ended: start }, new RegExp(`held.*, ${granted}, ${granted + 1}`)],
    ['shows the end of a long path', { path: `${'folder/'.repeat(30)}Hero.uasset` }, /section ….{20,}\/Hero\.uasset/],
  ])('%s', (_, more, expected) => {
    expect(gantt([bar('a', more)])).toMatch(expected);
  });

  test('leaves out what has no times, and is none of nothing', () => {
    const timeless = bar('a', { granted: Number.NaN });
    expect(gantt([timeless, bar('b')])).not.toContain('section a');
    // Mermaid reads no time before 1970.
    for (const bars of [[timeless], [bar('a', { asked: -1 })], []]) expect(gantt(bars)).toBeUndefined();
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
        expect(lines.slice(0, 4)).toEqual(head);
        expect(lines.slice(-2)).toEqual(['```', '']);
        const rows = lines.slice(4, -2);
        expect(rows).toHaveLength(3 * paths.length);
        for (const [index, line] of rows.entries()) {
          // What Mermaid takes for the text of a section and of a task, and nothing that it takes for something else.
          if (index % 3 === 0) expect(line).toMatch(/^ {4}section [^:;#%`{}<>"\\]*$/);
          else expect(line).toMatch(/^ {4}(waited :done|held :active), \d+, \d+$/);
        }
      }),
      { numRuns: 300 },
    );
  });
});
