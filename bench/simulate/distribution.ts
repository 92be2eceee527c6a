/** Percentiles of numbers that are too many to keep: each is right to 1 %. */
const growth = Math.log(1.02);

export interface Distribution {
  readonly add: (value: number) => void;
  readonly count: () => number;
  readonly percentile: (percent: number) => number;
  readonly most: () => number;
  readonly mean: () => number;
}

export function createDistribution(): Distribution {
  const counts = new Map<number, number>();
  let zeros = 0;
  let count = 0;
  let sum = 0;
  let most = 0;
  return {
    add(value) {
      count += 1;
      sum += value;
      most = Math.max(most, value);
      if (value <= 0) zeros += 1;
      else {
        const bucket = Math.round(Math.log(value) / growth);
        counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
      }
    },
    count: () => count,
    percentile(percent) {
      let left = Math.ceil((percent / 100) * count) - zeros;
      if (left <= 0) return 0;
      for (const bucket of [...counts.keys()].toSorted((one, other) => one - other)) {
        left -= counts.get(bucket) ?? 0;
        if (left <= 0) return Math.min(most, Math.exp(bucket * growth));
      }
      return most;
    },
    most: () => most,
    mean: () => (count === 0 ? 0 : sum / count),
  };
}
