import type { Command } from './command.ts';
import { audit } from './commands/audit.ts';
import { backup } from './commands/backup.ts';
import { completionOf } from './commands/completion.ts';
import { hookList, hookRemove } from './commands/hook.ts';
import { lockList, lockRelease } from './commands/lock.ts';
import { raiseFencesCommand } from './commands/raise-fences.ts';
import { restore } from './commands/restore.ts';
import { serveNextTo } from './commands/serve.ts';
import { signIn } from './commands/sign-in.ts';
import { tokenCreate, tokenList, tokenRevoke } from './commands/token.ts';
import { trustAdd, trustList, trustRemove } from './commands/trust.ts';
import { workspaceAdd, workspaceList, workspaceRemove } from './commands/workspace.ts';
import { workspaceLfs, workspaceUpdate } from './commands/workspace-desk.ts';
import { lockCheck, lockTake } from './remote/lock.ts';

const others: readonly Command[] = [
  signIn,
  tokenCreate,
  tokenList,
  tokenRevoke,
  trustAdd,
  trustList,
  trustRemove,
  workspaceAdd,
  workspaceUpdate,
  workspaceLfs,
  workspaceList,
  workspaceRemove,
  lockTake,
  lockList,
  lockRelease,
  lockCheck,
  hookList,
  hookRemove,
  audit,
  backup,
  restore,
  raiseFencesCommand,
];

const withoutCompletion: readonly Command[] = [serveNextTo(others), ...others];

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [...withoutCompletion, completionOf(withoutCompletion)];
