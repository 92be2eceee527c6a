import { spawn } from 'node:child_process';

/** How long a program takes, in milliseconds; it has to end well. */
export async function timeOf(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, args, { env, signal, stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${program} ended with ${code}.`);
  return performance.now() - startedAt;
}
