import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keyValuePairs } from '../../test/support/runner/file-commands.ts';

import type { Bench } from '../benchmark.ts';
import { openSteps } from '../step-environment.ts';
import type { Place } from './place.ts';
import { timeOf } from './time.ts';

const dist = join(import.meta.dirname, '../../dist');

/** How long a step of the action takes to lock them, and its post-step at the end of the job to release them. */
export async function byAction(
  { baseUrl, token, workspace }: Place,
  paths: readonly string[],
  { signal }: Pick<Bench, 'signal'>,
  further: NodeJS.ProcessEnv = {},
): Promise<number> {
  const steps = await openSteps();
  try {
    const environment = {
      ...steps.environment({ operation: 'lock', 'base-url': baseUrl, token, workspace, path: paths.join('\n') }),
      ...further,
    };
    const locking = await timeOf(process.execPath, [join(dist, 'index.js')], environment, signal);
    const saved = keyValuePairs(await readFile(environment['GITHUB_STATE'] ?? '', 'utf8'));
    const state = Object.fromEntries([...saved].map(([name, value]) => [`STATE_${name}`, value]));
    const post = [join(dist, 'post/index.js')];
    const releasing = await timeOf(process.execPath, post, { ...environment, ...state }, signal);
    return locking + releasing;
  } finally {
    await steps.end();
  }
}
