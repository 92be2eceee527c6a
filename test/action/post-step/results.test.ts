import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { manualReleaseCommand, notReleasedResult, unansweredResult } from '../../../src/action/post-step/results.ts';
import { releaseResult } from '../../../src/action/report/release-result.ts';
import { type PathResult, resultsOutcome } from '../../../src/action/report/results.ts';
import type { KnownLock } from '../../../src/client/known-lock.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { GrantedLock, Loss } from '../../../src/locks/ledger/entry.ts';
import type { JobLock } from '../../../src/locks/ledger/history.ts';
import { workspaceId } from '../../client/test-client.ts';
import { addressOf, grantOf, intentOf, iso, knownLock, lockOf, start } from '../../locks/samples.ts';

const minute = 60_000;
const now = start + 30 * minute;
const report = (...results: readonly PathResult[]) => resultsOutcome(results, 'released', 'Released 1 lock', now);

const grant = grantOf('a');
const endless = grantOf('a', { lock: lockOf('a', { expires_at: '' }) });
const over = grantOf('a', { lock: lockOf('a', { expires_at: iso(10 * minute) }) });
const loss: Loss = { kind: 'lost', ...addressOf('a'), step: 's', key: 'a', at: iso(20 * minute) };
const reason = 'It lost its connection.';

interface Lost extends Partial<JobLock> {
  readonly holder?: KnownLock | 'nobody';
  readonly doubt?: string;
}
type LockEnd = Parameters<typeof releaseResult>[1];
const result = (end: LockEnd, { doubt, ...candidate }: Omit<Lost, 'holder'> = {}): PathResult =>
  releaseResult({ grant, mayBeReleased: false, ...candidate }, end, doubt, now);
const notReleased = (candidate: Partial<JobLock> = {}): PathResult =>
  notReleasedResult({ grant, mayBeReleased: false, ...candidate }, reason, false, now);
const replaced = ({ holder, ...lost }: Lost = {}): PathResult =>
  result(holder === 'nobody' ? { kind: 'absent' } : { kind: 'other', holder }, lost);
const absent: LockEnd = { kind: 'absent' };
const released: LockEnd = { kind: 'released' };

describe('the result of a lock at the end of a job', () => {
  const doubt = 'A line cannot be read.';

  test.each<[string, PathResult, number]>([
    ['a released lock', result(released), 0],
    ['a lock that is gone', result(absent), 0],
    ['a lock that expired before', result(absent, { grant: over }), 1],
    ['a lock that is gone and had an unknown end', result(absent, { grant: endless }), 0],
    ['a lock that the job may have released', replaced({ mayBeReleased: true }), 0],
    ['such a lock with a damaged ledger', replaced({ mayBeReleased: true, doubt }), 1],
    ['such a lock with a damaged ledger on a free path', replaced({ mayBeReleased: true, doubt, holder: 'nobody' }), 0],
    ['a lock that nothing identifies', result({ kind: 'ambiguous' }), 1],
    ['a lock that could not be released', notReleased(), 1],
    ['an unanswered request', unansweredResult(intentOf('i'), reason), 1],
  ])('is no failure for %s, and a warning if it stays or expired early', (_, one, warnings) => {
    expect(report(one).failures).toEqual([]);
    expect(report(one).warnings).toHaveLength(warnings);
  });

  test('says whether a longer ttl would have kept a lost lock', () => {
    expect(replaced({ grant: over }).failure).toContain('a longer `ttl` would have prevented that');
    expect(replaced().failure).toContain('Someone released it before it expired.');
  });

  test('does not name another holder of a lost lock if a later step of the job locked the path again', () => {
    const lost = replaced({ grant: over, grantedAgain: true });
    expect(lost.failure).toMatch(
      /^This job lost its lock on a\. It expired at .* A later step of this job locked a again\.$/,
    );
    expect(report(lost).lines).toEqual(['a: lost']);
  });

  const renewalError = 'The service was down.';
  test.each<[string, Lost, RegExp]>([
    [
      'was refused before a later step locked the path again',
      { loss: { ...loss, holder: { owner: 'ci' } }, grantedAgain: true },
      /^The lock on a was lost at 12:20 UTC .*refused to renew it\. A later step of this job locked a again\.$/,
    ],
    [
      'was refused and is now free, although its release may have started',
      { loss, holder: 'nobody', mayBeReleased: true },
      /^The lock on a was lost at 12:20 UTC \(10 min ago\), when the service refused to renew it\. Nobody holds a now\.$/,
    ],
    [
      'was refused before its end, whatever renewals failed later',
      { loss, holder: 'nobody', renewalError },
      /, when the service refused to renew it\. Nobody holds a now\.$/,
    ],
    [
      'expired in an outage',
      { grant: over, loss, holder: 'nobody', renewalError },
      /^The lock on a expired at 12:10 UTC \(20 min ago\) because it could not be renewed: The service was down\. Nobody holds a now\.$/,
    ],
    [
      'expired in an outage and has another holder',
      { grant: over, loss, holder: knownLock('a'), renewalError },
      /^The lock on a expired at .*: The service was down\. a is held by grace until 13:00 UTC \(in 30 min\)\.$/,
    ],
    [
      'expired after a failed renewal and has another holder',
      { grant: over, holder: knownLock('a'), renewalError },
      /^The lock on a expired at .*: The service was down\. a is held by grace .*\.$/,
    ],
  ])('says when and why a renewed lock that %s was lost', (_, lost, expected) => {
    expect(replaced(lost)).toMatchObject({ result: 'lost', failure: expect.stringMatching(expected) });
  });

  test('is a loss if the renewal was refused, even if a lost response makes the path count as released', () => {
    expect(result(released, { loss })).toMatchObject({ result: 'lost', failure: expect.stringContaining('lost at') });
  });

  test('says why a lock could not be released, and what to do', () => {
    const left = notReleased();
    expect(report(left).warnings).toEqual([
      expect.stringMatching(
        /^Some locks could not .*\. It lost its connection\. To release them now: a \(.*\): curl .*'\.$/,
      ),
    ]);
    const [warning, ...others] = report(...Array.from({ length: 6 }, () => left)).warnings;
    expect(others).toEqual([]);
    expect(warning?.match(/curl -X DELETE/g)).toHaveLength(5);
    expect(warning).toContain('And 1 more');
  });

  test('lists the locks that need attention first, with an end only for those that may still exist', () => {
    const lost = replaced();
    const left = notReleased({ grant: grantOf('c') });
    const { sentence, lines, table } = report(result(released, { grant: grantOf('b') }), left, lost);
    expect(table.rows).toEqual([
      ['a', 'lost', '', ''],
      ['c', 'not released', '', '2026-03-01 13:00 UTC'],
      ['b', 'released', '', ''],
    ]);
    expect(sentence).toBe('Released 1 lock, 1 lost, 1 not released.');
    expect(lines[0]).toBe('a: lost');
  });

  test('shares its advice with other warnings', () => {
    const advice = 'Increase `ttl` to cover the job.';
    const [warning = '', ...others] = report(
      result(absent, { grant: over }),
      result(absent, { grant: { ...over, path: grantOf('b').path } }),
    ).warnings;
    expect(others).toEqual([]);
    expect(warning.match(/ expired at /g)).toHaveLength(2);
    expect(warning.split(advice)).toHaveLength(2);
  });
});

describe('the command to release a lock by hand', () => {
  const command = (path: string, lock: Partial<GrantedLock> = {}): string =>
    manualReleaseCommand(grantOf(path, { workspace: workspaceId('game assets'), lock: lockOf(path, lock) }));

  test('names the URL of the lock, and the lock itself as a condition', () => {
    expect(command('Content/Hero.uasset', { id: 'l1' })).toBe(
      `curl -X DELETE -H 'Authorization: Bearer <API_TOKEN>' -H 'If-Match: "l1"' 'https://workspaces.example.com/v1/workspaces/game%20assets/locks/Content%2FHero.uasset'`,
    );
    expect(command('a', { id: 'l1', etag: '"v2"' })).toContain(`-H 'If-Match: "v2"'`);
    expect(command('a')).not.toContain('If-Match');
  });

  test('is a single shell command, whatever characters the path and the ETag contain', () => {
    const text = (...more: readonly string[]) =>
      fc.string({ unit: fc.constantFrom("'", '$', '(', ')', '`', ';', '&', '|', '!', 'a', ...more), maxLength: 8 });
    const path = text('"', ' ', '*', 'ä').filter((each) => parseLockPath(each).ok);
    const samples = fc.sample(fc.record({ path, tag: text() }), { numRuns: 40 });
    // A function takes the place of curl; it prints its arguments, one per line.
    const script = samples.map((one) => command(one.path, { etag: `"${one.tag}"` })).join('\n');
    const words = execFileSync('sh', ['-c', `curl() { printf '%s\\n' "$@"; }\n${script}`], { encoding: 'utf8' });
    const address = 'https://workspaces.example.com/v1/workspaces/game%20assets/locks';
    const options = ['-X', 'DELETE', '-H', 'Authorization: Bearer <API_TOKEN>', '-H'];
    expect(words.trimEnd().split('\n')).toEqual(
      samples.flatMap((one) => [...options, `If-Match: "${one.tag}"`, `${address}/${encodeURIComponent(one.path)}`]),
    );
  });
});
