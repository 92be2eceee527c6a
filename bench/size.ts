import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { archiveOf } from './archive.ts';
import { atMost, type Benchmark } from './benchmark.ts';
import { budgets } from './budgets.ts';

const entry = join(import.meta.dirname, '../dist/index.js');
const kilobytes = (bytes: number): number => bytes / 1_000;

export const size: Benchmark = {
  name: 'size',
  what: 'What a runner downloads and reads for the action.',
  measure: async () => ({
    figures: [
      {
        name: 'entry chunk: dist/index.js',
        value: kilobytes((await stat(entry)).size),
        unit: 'KB',
        limit: atMost(kilobytes(budgets.entryBytes), 'design §6'),
      },
      {
        name: 'download: git archive HEAD | gzip',
        value: kilobytes(archiveOf('HEAD').gzippedBytes),
        unit: 'KB',
        limit: atMost(kilobytes(budgets.archiveBytes), 'design §6'),
      },
    ],
  }),
};
