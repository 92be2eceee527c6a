import { describe, expect, test } from 'vitest';
import type { Grant, Intent } from '../../../src/action/ledger/entry.ts';
import type { ClaimResult } from '../../../src/action/post-step/claims.ts';
import { releaseReport } from '../../../src/action/post-step/report.ts';

const now = Date.parse('2026-03-01T12:30:00.000Z');
const place = { service: 'https://workspaces.example.com/v1', workspace: 'game' };

const grantOf = (path: string, expires_at = '2026-03-01T13:00:00.000Z'): Grant => ({
  kind: 'granted',
  ...place,
  path,
  step: 's',
  key: path,
  at: '2026-03-01T12:00:00.000Z',
  waitedMs: 0,
  lock: { path, type: 'exclusive', id: `l_${path}`, expires_at },
});

const intent: Intent = {
  kind: 'intent',
  ...place,
  path: 'i',
  step: 's',
  key: 'i',
  type: 'exclusive',
  ttl: '1h',
  at: '2026-03-01T12:00:00.000Z',
  byService: true,
};

const report = (results: readonly ClaimResult[], onLost: 'fail' | 'warn' = 'fail') =>
  releaseReport(results, { chart: undefined, now, onLost });

const lost = (path: string, expires_at?: string): ClaimResult => ({
  kind: 'lost',
  grant: grantOf(path, expires_at),
  holder: undefined,
});

describe('the end of a job', () => {
  test.each<[ClaimResult, number]>([
    [{ kind: 'released', grant: grantOf('a') }, 0],
    [{ kind: 'gone', grant: grantOf('a') }, 0],
    [{ kind: 'gone', grant: grantOf('a', '2026-03-01T12:10:00.000Z') }, 1],
    [{ kind: 'replaced', grant: grantOf('a'), holder: undefined }, 1],
    [{ kind: 'left-alone', grant: grantOf('a') }, 1],
    [{ kind: 'failed', grant: grantOf('a'), why: 'It lost its connection.' }, 1],
    [{ kind: 'unproven', intent, why: 'It lost its connection.' }, 1],
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
    expect(report([lost('a', '2026-03-01T12:10:00.000Z')]).failures[0]).toContain('a longer `ttl` would have kept it');
    expect(report([lost('a')]).failures[0]).toContain('Somebody had released it before its end.');
  });

  test('names five locks that could not be released with how to release them, and counts the others', () => {
    const results = Array.from({ length: 8 }, (_, index): ClaimResult => {
      return { kind: 'failed', grant: grantOf(`f${index}`), why: 'The connection was lost.' };
    });
    const [warning = '', ...others] = report(results).warnings;
    expect(others).toEqual([]);
    expect(warning.match(/curl -X DELETE/g)).toHaveLength(5);
    expect(warning).toContain('And 3 more');
    expect(report(results).lines).toHaveLength(8);
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
