import { appendFileSync } from 'node:fs';
import { relative } from 'node:path';
import { expect } from 'vitest';

export type Limit = { readonly atMost: number } | { readonly atLeast: number } | { readonly exactly: number };

/** A figure as `npm run evidence` reads it. */
export interface Measured {
  readonly name: string;
  readonly value: number;
  readonly limit: Limit;
  /** The file of the test, relative to the repository. */
  readonly test: string;
}

/** Fails if a figure misses its limit, unless `npm run evidence` judges it. The long tests print all of them. */
export function measured(name: string, value: number, limit: Limit, because: string | readonly string[] = []): void {
  const told = `${name}: ${value}, expected ${JSON.stringify(limit)}`;
  if (process.env['SOAK'] === '1') process.stdout.write(`${told}\n`);
  const file = process.env['EVIDENCE_FILE'];
  if (file !== undefined) {
    const line: Measured = { name, value, limit, test: relative('.', expect.getState().testPath ?? '') };
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  } else if (!keeps(value, limit)) expect.fail([told].concat(because).join('\n'));
}

/** NaN misses every limit. */
export function keeps(value: number, limit: Limit): boolean {
  if ('atMost' in limit) return value <= limit.atMost;
  return 'atLeast' in limit ? value >= limit.atLeast : value === limit.exactly;
}
