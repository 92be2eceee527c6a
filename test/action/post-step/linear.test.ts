import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Entry, Grant } from '../../../src/action/ledger/entry.ts';
import { readJobLocks } from '../../../src/action/ledger/history.ts';
import { type Ledger, openLedger } from '../../../src/action/ledger/ledger.ts';
import { type ClaimResult, readClaims } from '../../../src/action/post-step/claims.ts';
import { chartOf, releaseReport } from '../../../src/action/post-step/report.ts';
import { summaryHtml } from '../../../src/action/report/summary.ts';
import { createRedactor } from '../../../src/interface/redact.ts';
import { runs } from '../../support/runs.ts';

const place = { service: 'https://workspaces.example.com/v1', workspace: 'game' };
const at = '2026-03-01T12:00:00.000Z';
const now = Date.parse(at) + 60_000;
const step = 's';
const redact = createRedactor(['wsa_0123456789abcdef']);

let folder: string;
let ledgers = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'linear-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function grantOf(path: string, key: string): Grant {
  const lock = {
    path,
    type: 'exclusive',
    id: `lock_${key}`,
    etag: `"lock_${key}"`,
    expires_at: '2026-03-01T13:00:00.000Z',
  };
  return { kind: 'granted', ...place, path, step, at, key, waitedMs: 0, lock };
}

/** How a job has locked so many paths. */
function lockingEntries(grants: readonly Grant[]): readonly Entry[] {
  const paths = grants.map(({ path }) => path);
  return [
    { kind: 'plan', ...place, step, at, paths },
    ...grants.map(
      ({ path, key }): Entry => ({
        kind: 'intent',
        ...place,
        path,
        step,
        at,
        key,
        type: 'exclusive',
        ttl: '1h',
        byService: true,
      }),
    ),
    ...grants,
  ];
}

const endingEntries = (grants: readonly Grant[]): readonly Entry[] =>
  grants.flatMap(({ path, lock: { id, etag } }): readonly Entry[] => [
    { kind: 'releasing', ...place, path, id, etag, at },
    { kind: 'ended', ...place, path, id, etag, how: 'released', at },
  ]);

/** All that a post-step does of its own with the locks of a step: read, draw and tell. */
function endStep(ledger: Ledger, grants: readonly Grant[]): void {
  readJobLocks(ledger, place.service, place.workspace);
  const claims = readClaims({ ledger, step, locksFile: '', savedState: undefined });
  expect(claims.held).toHaveLength(grants.length);
  ledger.append(...endingEntries(grants));
  const chart = chartOf(ledger, { step, without: new Set(), now, redact });
  const results = claims.held.map(({ grant }, index): ClaimResult => {
    if (index % 4 === 0) return { kind: 'failed', grant, why: 'It lost its connection.' };
    if (index % 4 === 1) return { kind: 'lost', grant, holder: undefined };
    return { kind: 'released', grant };
  });
  const report = releaseReport(results, { chart, now, onLost: 'fail' });
  summaryHtml('Workspace: locks at the end of the job', report.sentence, [report.table], redact);
}

/** A ledger of a job that has locked these paths, each with a request of its own. */
function ledgerOf(paths: readonly string[]): { readonly ledger: Ledger; readonly grants: readonly Grant[] } {
  ledgers += 1;
  const grants = paths.map((path, index) => grantOf(path, String(index)));
  const ledger = openLedger(join(folder, String(ledgers), 'ledger.jsonl'), redact);
  ledger.append(...lockingEntries(grants));
  return { ledger, grants };
}

/** Time of the processor, and not of the clock: others may want it too. The lesser of two is the cleaner. */
function lesserCpuMs(pathsOfRound: () => readonly string[], work: typeof endStep): number {
  const times = [1, 2].map(() => {
    const { ledger, grants } = ledgerOf(pathsOfRound());
    const before = process.cpuUsage();
    work(ledger, grants);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  return Math.min(...times);
}

test.each<[string, (index: number) => string, typeof endStep]>([
  ['A post-step', (index) => `Content/Maps/${index}.umap`, endStep],
  [
    'The history of a path that was locked again and again',
    () => 'Content/Hero.uasset',
    (ledger) => void readJobLocks(ledger, place.service, place.workspace),
  ],
])('%s takes four times as long for four times as many locks, and not sixteen', (_, pathOf, work) => {
  const cost = (locks: number): number =>
    lesserCpuMs(() => Array.from({ length: locks }, (_each, index) => pathOf(index)), work);
  cost(500);
  const few = runs(1_500, 5_000);
  expect(cost(4 * few) / cost(few)).toBeLessThan(8);
});
