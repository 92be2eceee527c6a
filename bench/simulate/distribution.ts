/** Each percentile is right to 1 %, of numbers that are too many to keep. */
const growth = Math.log(1.02);

export function createDistribution() {
  const counts = new Map<number, number>();
  let [zeros, count, sum, max] = [0, 0, 0, 0];
  return {
    add(value: number): void {
      count += 1;
      sum += value;
      max = Math.max(max, value);
      const bucket = Math.round(Math.log(value) / growth);
      if (value <= 0) zeros += 1;
      else counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
    },
    percentile(percent: number): number {
      let left = Math.ceil((percent / 100) * count) - zeros;
      if (left <= 0) return 0;
      for (const bucket of [...counts.keys()].toSorted((one, other) => one - other)) {
        left -= counts.get(bucket) ?? 0;
        if (left <= 0) return Math.min(max, Math.exp(bucket * growth));
      }
      return max;
    },
    count: () => count,
    max: () => max,
    mean: () => (count === 0 ? 0 : sum / count),
  };
}
