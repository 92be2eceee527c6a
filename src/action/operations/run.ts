import type { Task } from '../inputs/task.ts';
import type { Renewer } from '../renewal/renewer.ts';
import type { Outcome } from '../report/outcome.ts';
import type { Context } from '../step/context.ts';

/** Each operation, and the network code with it, is loaded on demand: reporting an invalid input needs neither. */
export async function runOperation(context: Context, task: Task, renewer?: Renewer): Promise<Outcome> {
  switch (task.operation) {
    case 'sync':
      return (await import('./sync.ts')).sync(context, task);
    case 'lock': {
      const { lock } = await import('./lock.ts');
      // A process that has received no task ends.
      return lock(context, task, renewer).finally(() =>
        renewer?.then(({ child }) => child.stdin.end()).catch(() => {}),
      );
    }
    case 'unlock':
      return (await import('./unlock.ts')).unlock(context, task);
    case 'list-locks':
      return (await import('./list-locks.ts')).listLocks(context, task);
    case 'register-hook':
      return (await import('./register-hook.ts')).registerHook(context, task);
    case 'list-workspaces':
      return (await import('./list-named.ts')).listWorkspaces(context);
    case 'list-branches':
      return (await import('./list-named.ts')).listBranches(context, task);
    case 'check':
      return (await import('./check.ts')).check(context, task);
  }
}
