import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { DemoFailure } from './ending.ts';

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** The command of the service. `npm ci` compiles the service; if it did not, it is compiled now. */
export function compiledService(): string {
  if (!existsSync(inProject('build/service/cli/main.js'))) {
    const tsc = inProject('node_modules/typescript/bin/tsc');
    try {
      execFileSync(process.execPath, [tsc, '--project', inProject('scripts/tsconfig.build.json')], { stdio: 'pipe' });
    } catch (error) {
      throw new DemoFailure(
        `Could not compile the service: ${error instanceof Error ? error.message : String(error)}. Run npm ci and start the demo again.`,
      );
    }
  }
  return inProject('bin/workspace-service.js');
}
