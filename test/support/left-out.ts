import type { TestContext } from 'vitest';

/** Leaves a test out and says why, also where the report shows no reasons. */
export function leaveOut({ skip, task }: Pick<TestContext, 'skip' | 'task'>, reason: string): never {
  process.stderr.write(`Left out: "${task.name}". ${reason}\n`);
  return skip(reason);
}
