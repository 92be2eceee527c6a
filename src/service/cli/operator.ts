import { userInfo } from 'node:os';
import type { Actor } from '../audit/audit.ts';

/** In a container, a user may have a number and no name. */
function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Who runs a command: the folder or the database lets them do everything, so there is no token to name. */
export const operatorActor = (): Actor => ({ name: `operator:${systemUser()}`, tokenId: null, address: null });
