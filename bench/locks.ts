import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyValuePairs } from '../test/support/runner/file-commands.ts';
import { type ServiceProcess, startServiceProcess } from '../test/support/service-process.ts';
import { budgets } from './budgets.ts';
import { openSteps } from './step-environment.ts';

/** How long 500 locks and their release take a step of the action, beside a loop of curl with one lock a call. */

const rounds = 3;
const paths = Array.from({ length: 500 }, (_, number) => `Content/Maps/Level-${number}.umap`);
const dist = join(import.meta.dirname, '../dist');

/** How long a program takes; it has to end well. */
async function timed(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const code = await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}.`);
  return performance.now() - startedAt;
}

/** The step, and its post-step at the end of the job. */
async function byAction({ baseUrl, token, workspace }: ServiceProcess): Promise<number> {
  const steps = await openSteps();
  try {
    const environment = steps.environment({
      operation: 'lock',
      'base-url': baseUrl,
      token,
      workspace,
      path: paths.join('\n'),
    });
    const locking = await timed(process.execPath, [join(dist, 'index.js')], environment);
    const saved = keyValuePairs(await readFile(environment['GITHUB_STATE'] ?? '', 'utf8'));
    const state = Object.fromEntries([...saved].map(([name, value]) => [`STATE_${name}`, value]));
    const releasing = await timed(process.execPath, [join(dist, 'post/index.js')], { ...environment, ...state });
    return locking + releasing;
  } finally {
    await steps.end();
  }
}

const script = `
set -euo pipefail
ask() { curl --silent --show-error --fail --output /dev/null --header "@$HEADERS" "$@"; }
while read -r path; do
  ask --data "{\\"path\\":\\"$path\\",\\"type\\":\\"exclusive\\",\\"ttl\\":\\"1h\\"}" "$LOCKS"
done <"$PATHS"
while read -r path; do ask --request DELETE "$LOCKS/\${path//\\//%2F}"; done <"$PATHS"
`;

async function byCurl({ baseUrl, token, workspace }: ServiceProcess): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'bench-curl-'));
  try {
    const headers = join(folder, 'headers');
    const list = join(folder, 'paths');
    // In a file: arguments can be read by everybody on the machine.
    await writeFile(headers, `Authorization: Bearer ${token}\nContent-Type: application/json\n`, { mode: 0o600 });
    await writeFile(list, paths.map((path) => `${path}\n`).join(''));
    return await timed('bash', ['-c', script], {
      PATH: process.env['PATH'],
      HEADERS: headers,
      PATHS: list,
      LOCKS: `${baseUrl}/workspaces/${workspace}/locks`,
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((one, other) => one - other)[Math.floor(numbers.length / 2)] ?? Number.NaN;

const action: number[] = [];
const curl: number[] = [];
const service = await startServiceProcess({ args: ['--rate-limit', '0'] });
try {
  for (let round = 0; round < rounds; round += 1) {
    action.push(await byAction(service));
    curl.push(await byCurl(service));
  }
} finally {
  await service.stop();
}

const ratio = median(curl) / median(action);
const limit = budgets.locksRatio;
const kept = ratio >= limit;
const text = (numbers: readonly number[]): string =>
  `${Math.round(median(numbers))} ms (${numbers.map((number) => Math.round(number)).join(', ')})`;

console.log(`Node ${process.version}, ${availableParallelism()} processors, ${rounds} interleaved rounds, medians.\n`);
console.log(`${paths.length} locks and their release by the action   ${text(action)}`);
console.log(`the same by a loop of curl                  ${text(curl)}`);
console.log(`the action is ${ratio.toFixed(1)} × faster; at least ${limit.toFixed(1)} ×: ${kept ? 'kept' : 'MISSED'}`);

const [load = 0] = loadavg();
if (load > availableParallelism()) {
  console.log(`\nThe machine had other work to do (load ${load.toFixed(1)}): measure again when it is quiet.`);
}
process.exitCode = kept ? 0 : 1;
