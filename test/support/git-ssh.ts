import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Replaces ssh: records its arguments in the file `arguments`, and runs the command on this machine. The other side
 * runs `first` before that.
 */
export async function fakeSsh(folder: string, first = ''): Promise<string> {
  const path = join(folder, 'ssh');
  await writeFile(
    path,
    `#!/bin/sh
[ "$1" = -G ] && exit 0
printf '%s\\n' "$@" >> ${folder}/arguments
${first}
for last; do :; done
exec sh -c "$last"
`,
  );
  await chmod(path, 0o755);
  return path;
}
