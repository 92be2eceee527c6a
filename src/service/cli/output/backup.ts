import type { Counts } from '../../backup/format.ts';
import { type OutputBlock, textTable } from './table.ts';

export const rowCounts = (rows: Counts): readonly OutputBlock[] =>
  textTable(
    ['KIND', 'ROWS'],
    Object.entries(rows)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => [name.replaceAll('_', ' '), String(count)]),
    'Nothing is stored yet.',
  );
