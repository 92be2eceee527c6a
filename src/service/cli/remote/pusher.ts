import { readFile } from 'node:fs/promises';
import { errorMessage } from '../../../interface/format.ts';
import { parseTokenOwner } from '../../tokens/new-token.ts';
import { CommandError } from '../definition/command.ts';
import { withFileErrors } from '../definition/system-errors.ts';
import { quoted } from '../output/print.ts';

/** The variables in which GitLab, Gitea and Forgejo, GitHub Enterprise Server, and web servers name who pushes. */
export const pusherVariables = ['GL_USERNAME', 'GITEA_PUSHER_NAME', 'GITHUB_USER_LOGIN', 'REMOTE_USER'] as const;

/** The owner of the locks of the person who pushes; undefined if unknown. The file maps names of the forge to owners. */
export async function pusherOf(environment: NodeJS.ProcessEnv, ownersFile: string | undefined) {
  // Gitea and Forgejo name the owner of the repository for each of its deploy keys.
  if ((environment['GITEA_DEPLOY_KEY_ID'] ?? '0') !== '0') return undefined;
  const owners = ownersFile === undefined ? undefined : await readOwners(ownersFile);
  const name = pusherVariables.map((variable) => environment[variable]).find((value) => value);
  if (name === undefined || owners === undefined) return name;
  // Anyone may be able to take a name at the forge that is the owner of someone with another name there.
  return owners.get(name) ?? ([...owners.values()].includes(name) ? undefined : name);
}

/** Lines `NAME = OWNER`, and comments. */
async function readOwners(file: string): Promise<ReadonlyMap<string, string>> {
  const owners = new Map<string, string>();
  const lines = (await readOwnersFile(file)).split('\n');
  for (const [index, line] of lines.entries()) {
    const text = line.trim();
    if (text === '' || text.startsWith('#')) continue;
    const refuse = (reason: string) => new CommandError(`Line ${index + 1} of ${file} cannot be used. ${reason}`, 2);
    const [, name, value = ''] = /^([^=]*[^=\s])\s*=\s*(.*)$/.exec(text) ?? [];
    if (name === undefined) throw refuse('Write NAME = OWNER.');
    if (owners.has(name)) throw refuse('An earlier line has the same name.');
    const owner = parseTokenOwner(value);
    if (!owner.ok) throw refuse(owner.reason);
    owners.set(name, owner.value);
  }
  return owners;
}

async function readOwnersFile(file: string): Promise<string> {
  try {
    return await withFileErrors(file, readFile(file, 'utf8'));
  } catch (error) {
    const reason = `The file ${quoted(file)} cannot be used: ${errorMessage(error)}.`;
    throw new CommandError(error instanceof CommandError ? error.message : reason, 2);
  }
}
