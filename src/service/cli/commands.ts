import type { Command } from './command.ts';
import { audit } from './commands/audit.ts';
import { hookList } from './commands/hook-list.ts';
import { hookRemove } from './commands/hook-remove.ts';
import { lockList } from './commands/lock-list.ts';
import { lockRelease } from './commands/lock-release.ts';
import { serve } from './commands/serve.ts';
import { tokenCreate } from './commands/token-create.ts';
import { tokenList } from './commands/token-list.ts';
import { tokenRevoke } from './commands/token-revoke.ts';
import { workspaceAdd } from './commands/workspace-add.ts';
import { workspaceList } from './commands/workspace-list.ts';
import { workspaceRemove } from './commands/workspace-remove.ts';

/** All there are, in the order of the help. */
export const commands: readonly Command[] = [
  serve,
  tokenCreate,
  tokenList,
  tokenRevoke,
  workspaceAdd,
  workspaceList,
  workspaceRemove,
  lockList,
  lockRelease,
  hookList,
  hookRemove,
  audit,
];
