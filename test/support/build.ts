import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests that start the installed command run what is in `build/`, so it has to be what is in `src/`. */
export default function build(): void {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}
