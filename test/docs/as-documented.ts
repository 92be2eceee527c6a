import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Tests run as one user and without systemd: these stand-ins drop the user, and print what systemctl would do. */
const standIns = `
sudo() { while [[ $1 == --* ]]; do shift; done; "$@"; }
systemctl() { echo "systemctl $*"; }
`;

/** Runs a snippet of a page as it is, except for the paths and names that differ in a test. */
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
