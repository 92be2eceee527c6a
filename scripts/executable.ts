import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes `build/workspace-service` out of `build/workspace-service.mjs`: an executable with this Node in it. */

const root = join(import.meta.dirname, '..');
const executable = join(root, 'build/workspace-service');

const folder = mkdtempSync(join(tmpdir(), 'executable-'));
try {
  const [config, output] = [join(folder, 'config.json'), join(folder, 'blob')];
  const settings = { main: join(root, 'build/workspace-service.mjs'), output, disableExperimentalSEAWarning: true };
  writeFileSync(config, JSON.stringify(settings));
  run('--experimental-sea-config', config);
  rmSync(executable, { force: true });
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  // Node looks for its program under this name, and at the place of this mark.
  const place = ['NODE_SEA_BLOB', output, '--sentinel-fuse', 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'];
  run(join(root, 'node_modules/postject/dist/cli.js'), executable, ...place);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(...args: readonly string[]): void {
  execFileSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
