import type { Axis } from '../benchmark.ts';

/** From a value to a place between 0 and 1. */
export interface Scale {
  at(value: number): number;
  /** Values that are good to read, in rising order. */
  readonly ticks: readonly number[];
}

/** 1, 2 or 5 times a power of ten: the largest step that makes at least so many of them. */
function linearTicks(from: number, to: number, atLeast: number): readonly number[] {
  const rough = (to - from) / atLeast;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([5, 2].find((times) => times * power <= rough) ?? 1) * power;
  const first = Math.ceil(from / step);
  const count = Math.floor(to / step) - first + 1;
  return Array.from({ length: count }, (_, index) => (first + index) * step);
}

/** Below it, a step between two ticks is no number any more. */
const leastSpan = 1e-300;

function linear(values: readonly number[]): Scale {
  // Lengths are compared by eye: they begin with nothing.
  const from = Math.min(0, ...values);
  const highest = Math.max(0, ...values);
  const to = highest - from < leastSpan ? from + 1 : highest;
  const ticks = linearTicks(from, to, 4);
  return { at: (value) => (value - from) / (to - from), ticks };
}

function logarithmic(values: readonly number[]): Scale {
  const powers = values.map((value) => Math.log10(value));
  const from = Math.floor(Math.min(...powers));
  const to = Math.max(from + 1, Math.ceil(Math.max(...powers)));
  const ticks = Array.from({ length: to - from + 1 }, (_, index) => 10 ** (from + index));
  return { at: (value) => (Math.log10(value) - from) / (to - from), ticks };
}

/** What a logarithm is not made for, nothing and less, is drawn on a linear scale. */
export function scaleOf({ scale }: Pick<Axis, 'scale'>, values: readonly number[]): Scale {
  return scale === 'logarithmic' && values.length > 0 && values.every((value) => value > 0)
    ? logarithmic(values)
    : linear(values);
}
