import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Bench } from '../benchmark.ts';
import type { Place } from './place.ts';
import { timeOf } from './time.ts';

/** Both loops as somebody would write them in a step: one lock a call, and one release a call. */
const script = `
set -euo pipefail
ask() { curl --silent --show-error --fail --output /dev/null --header "@$HEADERS" "$@"; }
while read -r path; do
  ask --data "{\\"path\\":\\"$path\\",\\"type\\":\\"exclusive\\",\\"ttl\\":\\"1h\\"}" "$LOCKS"
done <"$PATHS"
while read -r path; do ask --request DELETE "$LOCKS/\${path//\\//%2F}"; done <"$PATHS"
`;

/** How long a loop of curl takes to lock and to release them. */
export async function byCurl(
  { baseUrl, token, workspace }: Place,
  paths: readonly string[],
  { folder, signal }: Bench,
): Promise<number> {
  const own = await mkdtemp(join(folder, 'curl-'));
  const headers = join(own, 'headers');
  const list = join(own, 'paths');
  // In a file: arguments can be read by everybody on the machine.
  await writeFile(headers, `Authorization: Bearer ${token}\nContent-Type: application/json\n`, { mode: 0o600 });
  await writeFile(list, paths.map((path) => `${path}\n`).join(''));
  const environment = {
    PATH: process.env['PATH'],
    HEADERS: headers,
    PATHS: list,
    LOCKS: `${baseUrl}/workspaces/${workspace}/locks`,
  };
  const ms = await timeOf('bash', ['-c', script], environment, signal);
  await rm(own, { recursive: true });
  return ms;
}
