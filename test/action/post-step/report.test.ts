import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { CandidateResult } from '../../../src/action/post-step/candidates.ts';
import { manualReleaseCommand, nothingLeft, releaseReport } from '../../../src/action/post-step/report.ts';
import { parseLockPath } from '../../../src/interface/lock-path.ts';
import type { GrantedLock, Loss } from '../../../src/locks/ledger/entry.ts';
import { workspaceId } from '../../client/test-client.ts';
import { addressOf, grantOf, intentOf, iso, knownLock, lockOf, start } from '../../locks/samples.ts';

const minute = 60_000;
const report = (results: readonly CandidateResult[], onLost: 'fail' | 'warn' = 'fail') =>
  releaseReport(results, { chart: undefined, now: start + 30 * minute, onLost });

const grant = grantOf('a');
const over = grantOf('a', { lock: lockOf('a', { expires_at: iso(10 * minute) }) });
const intent = intentOf('i');
const loss: Loss = { kind: 'lost', ...addressOf('a'), step: 's', key: 'a', at: iso(20 * minute) };
const reason = 'It lost its connection.';
const lost = (path: string, its = grantOf(path)): CandidateResult => ({ kind: 'lost', grant: its, holder: undefined });

describe('the report at the end of a job', () => {
  test.each<[CandidateResult, number]>([
    [{ kind: 'released', grant }, 0],
    [{ kind: 'already-ended', grant }, 0],
    [{ kind: 'already-ended', grant: over }, 1],
    [{ kind: 'left-alone', grant, why: 'ledger-damaged' }, 1],
    [{ kind: 'left-alone', grant, why: 'no-proof' }, 1],
    [{ kind: 'failed', grant, reason }, 1],
    [{ kind: 'unanswered', intent, reason }, 1],
  ])('never fails the job for %j, and warns about locks that stay or expired early', (result, warnings) => {
    expect(report([result]).failures).toEqual([]);
    expect(report([result]).warnings).toHaveLength(warnings);
  });

  test('fails the job for each lost lock, or warns once about all of them with `on-lost: warn`', () => {
    const results = [lost('a'), lost('b')];
    expect(report(results).failures).toHaveLength(2);
    expect(report(results, 'warn').failures).toEqual([]);
    expect(report(results, 'warn').warnings).toHaveLength(1);
  });

  test('says whether a longer ttl would have kept a lost lock', () => {
    expect(report([lost('a', over)]).failures[0]).toContain('a longer `ttl` would have prevented that');
    expect(report([lost('a')]).failures[0]).toContain('Someone released it before it expired.');
  });

  test('does not name another holder of a lost lock if a later step of the job locked the path again', () => {
    const { failures, lines } = report([{ kind: 'lost', grant: over, holder: undefined, grantedAgain: true }]);
    expect(failures).toEqual([
      expect.stringMatching(/^The lock on a was lost .* It expired at .* A later step of this job locked a again\.$/),
    ]);
    expect(lines).toEqual(['a: lost']);
  });

  const renewalError = 'The service was down.';
  test.each<[string, Partial<Extract<CandidateResult, { kind: 'lost' }>>, RegExp]>([
    [
      'was refused before a later step locked the path again',
      { loss: { ...loss, holder: { owner: 'ci' } }, grantedAgain: true },
      /^The lock on a was lost at 12:20 UTC .*refused to renew it\. A later step of this job locked a again\.$/,
    ],
    [
      'was refused and is now free',
      { loss, holder: 'nobody' },
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
      /^The lock on a expired at .*: The service was down\. a is held by grace until 13:00 UTC \(in 30 min\); that lock was left alone\.$/,
    ],
    [
      'expired after a failed renewal and has another holder',
      { grant: over, holder: knownLock('a'), renewalError },
      /^The lock on a expired at .*: The service was down\. a is held by grace .* left alone\.$/,
    ],
  ])('says when and why a renewed lock that %s was lost', (_, more, expected) => {
    const result: CandidateResult = { kind: 'lost', grant, holder: undefined, ...more };
    expect(report([result]).failures).toEqual([expect.stringMatching(expected)]);
    expect(report([result], 'warn').warnings).toEqual([expect.stringMatching(expected)]);
  });

  test('says why a lock could not be released, and what to do', () => {
    const [warning] = report([{ kind: 'failed', grant, reason }]).warnings;
    expect(warning).toMatch(/^1 lock could not .*\. It lost its connection\. To release it now: a \(.*\): curl .*'\.$/);
    const many = Array.from({ length: 8 }, (): CandidateResult => ({ kind: 'failed', grant, reason }));
    expect(report(many).warnings[0]?.match(/curl -X DELETE/g)).toHaveLength(5);
    expect(report(many).warnings[0]).toContain('And 3 more');
  });

  test('lists the locks that need attention first, with an end only for those that may still exist', () => {
    const failed: CandidateResult = { kind: 'failed', grant: grantOf('c'), reason: '' };
    const { sentence, lines, table } = report([{ kind: 'released', grant: grantOf('b') }, failed, lost('a')]);
    expect(table?.rows).toEqual([
      ['a', 'lost', '', ''],
      ['c', 'not released', '', '2026-03-01 13:00 UTC'],
      ['b', 'released', '', ''],
    ]);
    expect(sentence).toBe('Released 1 lock at the end of the job, 1 lost, 1 not released.');
    expect(lines[0]).toBe('a: lost');
    expect(report([]).sentence).toBe(nothingLeft);
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
