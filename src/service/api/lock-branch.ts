import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { invalid } from '../contract/problem.ts';
import { describedBranch } from '../contract/request-fields.ts';
import { type BranchName, parseBranchName } from '../git/branch-name.ts';
import type { Environment } from '../http/context.ts';

export const lockBranchHeader = z.object({
  'Lock-Branch': z
    .string()
    .optional()
    .openapi({
      ...describedBranch,
      description:
        'The branch that the lock is for, without refs/heads/. If another branch has a newer version of the file, the lock is refused (problem outdated) or acquired with the member outdated, depending on the workspace settings.',
    }),
});

export function lockBranchOf(c: Context<Environment>): BranchName | undefined {
  const text = c.req.header('lock-branch');
  if (text === undefined) return undefined;
  const branch = parseBranchName(Buffer.from(text, 'latin1').toString());
  if (!branch.ok) throw invalid({ pointer: '#/Lock-Branch', detail: branch.reason });
  return branch.value;
}
