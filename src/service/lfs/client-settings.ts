/** Ways to point Git LFS clients to a workspace, for the command line and for the dashboard. */

/** Name of the remote in `lfsWays.forRemote`. */
const remoteName = 'locks';

export const lfsWays = {
  committed:
    'Every clone uses the service: it checks each push against the locks. Without a token, or while the service is down, nobody can clone LFS files or push.',
  perClone:
    'Only this clone uses the service. Other clones need no token, and their pushes are not checked against the locks.',
  forRemote: `Objects never go through the service. Lock with "git lfs lock --remote ${remoteName} PATH"; pushes are not checked against these locks.`,
} as const;

export function lfsClientSettings(origin: string, workspace: string) {
  const url = `${origin}/v1/workspaces/${workspace}/lfs`;
  const locksverify = 'true';
  return {
    url,
    /** A `.lfsconfig` to commit: it applies to every clone. */
    committed: section('lfs', { url, locksverify }),
    perClone: [`git config lfs.url ${url}`, 'git config lfs.locksverify true'],
    /** Another `.lfsconfig`: for locks only, with a remote that users name in each command. */
    forRemote: section('lfs', { locksverify }) + section(`remote "${remoteName}"`, { lfsurl: url }),
  };
}

const section = (name: string, settings: Readonly<Record<string, string>>): string =>
  [`[${name}]`, ...Object.entries(settings).map(([key, value]) => `  ${key} = ${value}`), ''].join('\n');
