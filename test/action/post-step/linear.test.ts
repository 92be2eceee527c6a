import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type CandidateResult, readCandidates } from '../../../src/action/post-step/candidates.ts';
import { chartOf } from '../../../src/action/post-step/chart.ts';
import { releaseReport } from '../../../src/action/post-step/report.ts';
import { summaryHtml } from '../../../src/action/report/reporter.ts';
import { createRedactor } from '../../../src/interface/redact.ts';
import type { Entry, Grant } from '../../../src/locks/ledger/entry.ts';
import { readJobLocks } from '../../../src/locks/ledger/history.ts';
import { type Ledger, openLedger } from '../../../src/locks/ledger/ledger.ts';
import { at, grantOf, intentOf, lockOf, place, start } from '../../locks/samples.ts';
import { runs } from '../../support/runs.ts';
import { folderOfTests } from '../../support/temporary-folder.ts';

const now = start + 60_000;
const step = 's';
const redact = createRedactor(['wsa_0123456789abcdef']);

const folder = folderOfTests();
let ledgers = 0;

/** A ledger of a job that has locked these paths with one request each. */
function ledgerOf(paths: readonly string[]): { readonly ledger: Ledger; readonly grants: readonly Grant[] } {
  ledgers += 1;
  const ledger = openLedger(join(folder, String(ledgers), 'ledger.jsonl'), redact);
  const grants = paths.map((path, index) => {
    const id = `lock_${index}`;
    return grantOf(path, { key: String(index), lock: lockOf(path, { id, etag: `"${id}"` }) });
  });
  const intents = grants.map(({ path, key }) => intentOf(path, { key }));
  ledger.append({ kind: 'plan', ...place, step, at, paths }, ...intents, ...grants);
  return { ledger, grants };
}

/** All work of a post-step on the locks, except the requests: reading, charting and reporting. */
function endStep(ledger: Ledger, grants: readonly Grant[]): void {
  readJobLocks(ledger, place.service, place.workspace);
  const records = { file: ledger.file, ...ledger.read() };
  const candidates = readCandidates({ ledger: records, step, locksFile: '', savedState: undefined });
  expect(candidates.held).toHaveLength(grants.length);
  const endings = grants.flatMap(({ path, lock: { id, etag } }): readonly Entry[] => [
    { kind: 'releasing', ...place, path, id, etag, at },
    { kind: 'ended', ...place, path, id, etag, at },
  ]);
  const results = candidates.held.map(({ grant }, index): CandidateResult => {
    if (index % 4 === 0) return { kind: 'failed', grant, reason: 'It lost its connection.' };
    if (index % 4 === 1) return { kind: 'lost', grant, holder: undefined };
    return { kind: 'released', grant };
  });
  const chart = chartOf([...records.entries, ...endings], { step, results, now, redact });
  const report = releaseReport(results, { chart, now, onLost: 'fail' });
  summaryHtml('Workspace: locks at the end of the job', report.sentence, report.tables, redact);
}

const readLocks = (ledger: Ledger): void => void readJobLocks(ledger, place.service, place.workspace);

test.each<[string, (index: number) => string, typeof endStep]>([
  ['A post-step', (index) => `Content/Maps/${index}.umap`, endStep],
  ['The history of a path that was locked again and again', () => 'Content/Hero.uasset', readLocks],
])('%s takes linear time in the number of locks', (_, pathOf, work) => {
  /** CPU time, since other processes may run too. The lower of two runs is more precise. */
  const cpuMs = (locks: number): number => {
    const times = [1, 2].map(() => {
      const { ledger, grants } = ledgerOf(Array.from({ length: locks }, (_each, index) => pathOf(index)));
      const before = process.cpuUsage();
      work(ledger, grants);
      const { user, system } = process.cpuUsage(before);
      return (user + system) / 1_000;
    });
    return Math.min(...times);
  };
  cpuMs(500);
  const few = runs(500, 2_000);
  expect(cpuMs(16 * few) / cpuMs(few)).toBeLessThan(64);
});
