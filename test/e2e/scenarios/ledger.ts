import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Entry, readEntry } from '../../../src/locks/ledger/entry.ts';
import type { Job } from '../../support/runner/job.ts';

export const ledgerOf = (job: Job): string => join(job.folders.temp, 'workspace-automation', 'ledger.jsonl');

export const entriesOf = (job: Job): readonly Entry[] =>
  readFileSync(ledgerOf(job), 'utf8')
    .split('\n')
    .map(readEntry)
    .filter((entry) => entry !== undefined);
