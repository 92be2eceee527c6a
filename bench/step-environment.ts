import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readActionFile, resolveInputs } from '../test/support/runner/action-file.ts';
import { createCommandFiles } from '../test/support/runner/file-commands.ts';
import { contextVariables, pushEvent, someRun } from '../test/support/runner/github-context.ts';
import { environmentOf } from '../test/support/runner/step-environment.ts';

export interface Steps {
  /** All variables that a step with these inputs has on a runner. */
  environment(inputs: Readonly<Record<string, string>>): NodeJS.ProcessEnv;
  end(): Promise<void>;
}

/** Steps of one job in a folder of its own. */
export async function openSteps(): Promise<Steps> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const actionFile = await readActionFile();
  const files = await createCommandFiles(folder);
  const context = contextVariables({
    run: someRun,
    event: pushEvent(),
    eventPath: join(folder, 'event.json'),
    folders: { workspace: folder, temp: folder, tools: folder, home: folder },
    action: 'bench',
    debug: false,
  });
  return {
    environment: (inputs) =>
      environmentOf({
        runner: { PATH: process.env['PATH'] ?? '', HOME: folder },
        exported: new Map(),
        step: {},
        state: new Map(),
        inputs: resolveInputs(actionFile, inputs, { 'github.token': 'ghs_bench' }).values,
        prependedPaths: [],
        context: { ...context, ...files.variables },
      }),
    end: () => rm(folder, { recursive: true, force: true }),
  };
}
