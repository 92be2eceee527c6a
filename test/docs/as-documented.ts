import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Nobody here is another user, and no service belongs to systemd: what is done as whom is left out, and told. */
const standIns = `
sudo() { while [[ $1 == --* ]]; do shift; done; "$@"; }
systemctl() { echo "systemctl $*"; }
`;

/** Runs a snippet of a page as it is, but for the places and names in it that are other ones here. */
export async function runSnippet(
  snippet: string,
  replaced: Readonly<Record<string, string>>,
  environment: NodeJS.ProcessEnv = {},
): Promise<string> {
  const script = Object.entries(replaced).reduce((text, [from, to]) => text.replaceAll(from, to), snippet);
  const { stdout } = await promisify(execFile)('bash', ['--norc', '-euo', 'pipefail', '-c', standIns + script], {
    env: { PATH: process.env['PATH'], ...environment },
    timeout: 60_000,
  });
  return stdout;
}

export const has = (program: string): Promise<boolean> =>
  promisify(execFile)(program, ['--version']).then(
    () => true,
    () => false,
  );
