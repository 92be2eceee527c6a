/** Of numbers in order. */
const at = (sorted: readonly number[], index: number): number =>
  sorted[Math.min(Math.max(index, 0), sorted.length - 1)] ?? Number.NaN;

const inOrder = (numbers: readonly number[]): readonly number[] => numbers.toSorted((one, other) => one - other);

export function medianOf(numbers: readonly number[]): number {
  const sorted = inOrder(numbers);
  const middle = (sorted.length - 1) / 2;
  return (at(sorted, Math.floor(middle)) + at(sorted, Math.ceil(middle))) / 2;
}

/**
 * The median of all runs that could ever be made lies in here, with 95 % certainty, whatever their distribution: the order
 * statistics that a binomial distribution names.
 */
export function medianInterval(numbers: readonly number[]): readonly [from: number, to: number] {
  const sorted = inOrder(numbers);
  const middle = (sorted.length - 1) / 2;
  const reach = 0.98 * Math.sqrt(sorted.length);
  return [at(sorted, Math.floor(middle - reach)), at(sorted, Math.ceil(middle + reach))];
}

/** The mean of the half in the middle: finer than a median where a clock has coarse steps, and as hard to impress. */
export function middleMean(numbers: readonly number[]): number {
  const quarter = Math.floor(numbers.length / 4);
  const half = inOrder(numbers).slice(quarter, numbers.length - quarter);
  return half.reduce((sum, number) => sum + number, 0) / half.length;
}

/** Each the smallest number that so many per cent of them are not above (nearest rank). */
export function percentilesOf(
  numbers: readonly number[],
  percents: readonly number[],
): readonly (readonly [percent: number, value: number])[] {
  const sorted = inOrder(numbers);
  return percents.map((percent) => [percent, at(sorted, Math.ceil((percent / 100) * sorted.length) - 1)]);
}

/** One of them; of no numbers it is 0. */
export const percentileOf = (numbers: readonly number[], percent: number): number =>
  numbers.length === 0 ? 0 : (percentilesOf(numbers, [percent])[0]?.[1] ?? 0);

/** The median of what each number is of its partner: rounds that were slow for both do not count twice. */
export const medianRatio = (numbers: readonly number[], partners: readonly number[]): number =>
  medianOf(numbers.map((number, index) => number / (partners[index] ?? Number.NaN)));
