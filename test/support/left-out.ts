import type { TestContext } from 'vitest';

/** Skips a test and prints the reason, because some reports do not show it. */
export function leaveOut({ skip, task }: Pick<TestContext, 'skip' | 'task'>, reason: string): never {
  process.stderr.write(`Left out: "${task.name}". ${reason}\n`);
  return skip(reason);
}
