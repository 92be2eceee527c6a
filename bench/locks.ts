import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyValuePairs } from '../test/support/runner/file-commands.ts';
import { type ServiceProcess, startServiceProcess } from '../test/support/service-process.ts';
import { atLeast, type Benchmark, type Detail } from './benchmark.ts';
import { budgets } from './budgets.ts';
import { medianOf } from './statistics.ts';
import { openSteps } from './step-environment.ts';

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

const sum = (name: string, values: readonly number[]): Detail => ({ kind: 'rounds', name, unit: 'ms', values });

export const locks: Benchmark = {
  name: 'locks',
  what: 'How long many locks and their release take a step of the action, beside a loop of curl with one lock a call.',
  async measure({ quick, progress, atEnd }) {
    const action: number[] = [];
    const curl: number[] = [];
    const service = await startServiceProcess({ args: ['--rate-limit', '0'] });
    atEnd(() => service.stop());
    const rounds = quick ? 1 : 3;
    for (let round = 1; round <= rounds; round += 1) {
      progress(`round ${round} of ${rounds}`);
      action.push(await byAction(service));
      curl.push(await byCurl(service));
    }
    return {
      figures: [
        {
          name: '500 paths: a loop of curl over the action',
          value: medianOf(curl).median / medianOf(action).median,
          unit: '×',
          limit: atLeast(budgets.locksRatio, 'design §6'),
          details: [sum('the action', action), sum('curl', curl)],
        },
      ],
    };
  },
};
