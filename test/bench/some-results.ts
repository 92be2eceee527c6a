import type { Figure, LeftOut } from '../../bench/benchmark.ts';
import { form, type Results } from '../../bench/results.ts';

export const someFigure = (more: Partial<Figure> = {}): Figure => ({
  name: 'a figure',
  value: 2,
  unit: 'ms',
  ...more,
});

interface SomeMeasured {
  readonly figures?: readonly Figure[];
  readonly leftOut?: readonly LeftOut[];
}

/** Results of one benchmark on an idle machine. */
export function someResults(
  { figures = [someFigure()], leftOut = [] }: SomeMeasured = {},
  more: Partial<Results> = {},
): Results {
  return {
    form,
    date: '2026-02-03T04:05:06.789Z',
    quick: false,
    machine: { node: 'v24.0.0', system: 'linux 6.1', processor: 'Some CPU', processors: 4, memoryBytes: 8 * 2 ** 30 },
    loadBefore: 0.2,
    loadAfter: 1.5,
    benchmarks: [{ kind: 'measured', name: 'speed', what: 'How fast.', seconds: 1, figures, leftOut }],
    ...more,
  };
}
