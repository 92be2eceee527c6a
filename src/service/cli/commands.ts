import { audit } from './commands/audit.ts';
import { backup } from './commands/backup.ts';
import { completion } from './commands/completion.ts';
import { hookList, hookRemove } from './commands/hook.ts';
import { lockAsk } from './commands/lock-ask.ts';
import { lockCheck } from './commands/lock-check.ts';
import { lockExtend } from './commands/lock-extend.ts';
import { lockList } from './commands/lock-list.ts';
import { lockRelease } from './commands/lock-release.ts';
import { lockRun } from './commands/lock-run.ts';
import { lockTake } from './commands/lock-take.ts';
import { poolAdd, poolList, poolRemove, poolUpdate } from './commands/pool.ts';
import { raiseFencesCommand } from './commands/raise-fences.ts';
import { restore } from './commands/restore.ts';
import { serve } from './commands/serve.ts';
import { signIn } from './commands/sign-in.ts';
import { tokenCreate, tokenList, tokenRevoke } from './commands/token.ts';
import { trustAdd, trustList, trustRemove } from './commands/trust.ts';
import { workspaceAdd, workspaceList, workspaceRemove } from './commands/workspace.ts';
import { workspacePushHook } from './commands/workspace-push-hook.ts';
import { workspaceLfs, workspaceUpdate } from './commands/workspace-settings.ts';
import type { Command } from './definition/command.ts';

export const commands: readonly Command[] = [
  serve,
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
  workspacePushHook,
  workspaceList,
  workspaceRemove,
  poolAdd,
  poolUpdate,
  poolList,
  poolRemove,
  lockTake,
  lockExtend,
  lockAsk,
  lockList,
  lockRelease,
  lockCheck,
  lockRun,
  hookList,
  hookRemove,
  audit,
  backup,
  restore,
  raiseFencesCommand,
  completion,
];
