const inOrder = (numbers: readonly number[]): readonly number[] => numbers.toSorted((one, other) => one - other);

export const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

export function medianOf(numbers: readonly number[]): number {
  const sorted = inOrder(numbers);
  const middle = (sorted.length - 1) / 2;
  const [below = Number.NaN, above = Number.NaN] = [sorted[Math.floor(middle)], sorted[Math.ceil(middle)]];
  return (below + above) / 2;
}

/** Nearest-rank percentile: the smallest number that `percent` % of the numbers do not exceed; 0 for an empty list. */
export const percentileOf = (numbers: readonly number[], percent: number): number =>
  inOrder(numbers)[Math.ceil((percent / 100) * numbers.length) - 1] ?? 0;

/** The median of the ratios of each number to its partner: a round that was slow for both cancels out. */
export const medianRatio = (numbers: readonly number[], partners: readonly number[]): number =>
  medianOf(numbers.map((number, index) => number / (partners[index] ?? Number.NaN)));
