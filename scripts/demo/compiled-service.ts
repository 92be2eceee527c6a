import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compile } from '../compile.ts';
import { DemoFailure } from './ending.ts';

/** The command of the service. `npm ci` builds it; if it did not, it is built now. */
export async function compiledService(): Promise<string> {
  const command = fileURLToPath(new URL('../../build/workspace-service.mjs', import.meta.url));
  if (!existsSync(command)) {
    try {
      await compile();
    } catch (error) {
      throw new DemoFailure(
        `Could not build the service: ${error instanceof Error ? error.message : String(error)}. Run npm ci and start the demo again.`,
      );
    }
  }
  return command;
}
