import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openSteps } from '../step-environment.ts';
import type { RunningService } from './services.ts';

const entry = join(import.meta.dirname, '../../dist/index.js');

/** Loaded into the step: what it has held in memory at most, of its own, is known to the system alone. */
const tellPeak = `
  import { readFileSync, writeFileSync } from 'node:fs';
  process.on('exit', () => writeFileSync(process.env.BENCH_TOLD, readFileSync('/proc/self/status')));
`;

export interface ListingStep {
  readonly ms: number;
  /** Undefined where the system does not tell. */
  readonly peakBytes: number | undefined;
}

/** A step of the action that lists all locks of a workspace. */
export async function listingStep(
  { baseUrl, token }: RunningService,
  workspace: string,
  folder: string,
  signal: AbortSignal,
): Promise<ListingStep> {
  const own = await mkdtemp(join(folder, 'step-'));
  const told = join(own, 'told');
  const steps = await openSteps();
  try {
    const environment = {
      ...steps.environment({ operation: 'list-locks', 'base-url': baseUrl, token, workspace }),
      ...(process.platform === 'linux' && {
        NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(tellPeak)}`,
        BENCH_TOLD: told,
      }),
    };
    const startedAt = performance.now();
    const child = spawn(process.execPath, [entry], {
      env: environment,
      signal,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    const ms = performance.now() - startedAt;
    if (code !== 0) throw new Error(`A step that lists locks ended with ${code}.`);
    const status = await readFile(told, 'utf8').catch(() => '');
    const kilobytes = Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]);
    return { ms, peakBytes: Number.isNaN(kilobytes) ? undefined : kilobytes * 1_024 };
  } finally {
    await steps.end();
    await rm(own, { recursive: true });
  }
}
