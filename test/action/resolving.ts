import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { InputError } from '../../src/action/inputs/read.ts';
import { resolvePaths } from '../../src/action/paths/resolve-paths.ts';
import type { LockPath } from '../../src/interface/lock-path.ts';
import { loadStep, rightStep } from './step-environment.ts';

/** Puts empty files into a folder. */
export async function createFiles(folder: string, files: readonly string[]): Promise<void> {
  for (const file of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), '');
  }
}

export interface Resolving {
  readonly checkout?: string;
  readonly held?: ReadonlySet<LockPath>;
}

/** Resolves lines of the input `path` against a checkout. */
export function resolverIn(checkout: () => string) {
  async function resolve(path: string, { checkout: at = checkout(), held }: Resolving = {}, glob = true) {
    const loaded = loadStep(rightStep('lock', { path, glob: String(glob) }));
    if (!loaded.ok) throw new InputError(loaded.problems);
    const { task } = loaded.inputs;
    if (task.operation !== 'lock') throw new Error('The step names no paths.');
    const warnings: string[] = [];
    const log = { warn: (text: string) => void warnings.push(text) };
    const options = { glob, runner: { checkout: at }, log, ...(held && { held }) };
    const { paths, hasPattern } = await resolvePaths(task.path, options);
    return { paths: [...paths], hasPattern, warnings };
  }
  type Given = Parameters<typeof resolve>;
  return {
    resolve,
    paths: async (...given: Given) => (await resolve(...given)).paths.map(([path]) => path),
    warnings: async (...given: Given) => (await resolve(...given)).warnings,
    problems: (...given: Given): Promise<readonly string[]> => resolve(...given).then(() => [], problemsIn),
  };
}

export function problemsIn(error: unknown): readonly string[] {
  if (error instanceof InputError) return error.problems;
  throw error;
}
