import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { medianOf, percentileOf } from '../../bench/statistics.ts';
import { measured } from '../soak/measured.ts';
import { createRepository } from '../support/git-repository.ts';
import { leaveOut } from '../support/left-out.ts';
import { listenHere } from '../support/listen.ts';
import { runs } from '../support/runs.ts';
import { printedSeed } from '../support/seed.ts';
import { runCommand, type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { startHonestTenant } from './honest-tenant.ts';
import { type AttackName, type AttackOrder, type AttackReport, attackNames } from './hostile-tenant.ts';
import { callsTo } from './service-calls.ts';

const seconds = Number(process.env['LOAD_SECONDS'] ?? runs(15, 600));
const samples = Math.min(90, Math.max(3, Math.floor(seconds)));

/** Every lock of the flood is an event for each receiver; the short run shares the machine with other tests. */
const receivers = Number(process.env['RECEIVERS'] ?? runs(5, 100));
/** The share of the connections to use. Only the long run uses all, because it has the machine to itself. */
const strength = Number(process.env['STRENGTH'] ?? runs(0.1, 1));

/** Attacks that a machine shared with other tests can bear; the long run starts all of them. */
const gentle: readonly AttackName[] = ['forms', 'marks', 'garbage', 'sign-ins', 'live pages', 'locks'];

/** Selects attacks, to find the one that harms others: `ATTACKS=forms,locks`. */
const chosen: readonly string[] = process.env['ATTACKS']?.split(',') ?? (runs(0, 1) === 1 ? attackNames : gentle);
const attacks = attackNames.filter((name) => chosen.includes(name));
/** Floods run in processes of their own, so that they do not slow down the other attacks. */
const floods: readonly AttackName[] = ['locks', 'retried keys', 'forms'];

const megabytes = (bytes: number): number => bytes / 1_024 / 1_024;
const third = (numbers: readonly number[], which: 1 | 2): readonly number[] => {
  const length = Math.floor(numbers.length / 3);
  return numbers.slice(which * length, (which + 1) * length);
};

async function tenant(service: ServiceProcess, workspace: string, remote: string): Promise<string> {
  const { folder } = service;
  const add = ['workspace', 'add', workspace, '--no-check', '--allow-file-remotes', '--remote', remote];
  const added = await runCommand(add, { folder });
  expect(added.code, added.stderr).toBe(0);
  const scopes = 'sync,locks:write,hooks:write';
  const create = ['token', 'create', '--name', workspace, '--scopes', scopes, '--workspaces', workspace, '--json'];
  const { stdout, stderr } = await runCommand(create, { folder });
  expect(stderr).toBe('');
  return JSON.parse(stdout).secret;
}

/** A remote that accepts connections, and never responds. */
async function silentRemote(): Promise<string> {
  const { port, close } = await listenHere(createServer((socket) => socket.resume()));
  onTestFinished(close);
  return `https://127.0.0.1:${port}/assets.git`;
}

interface Attack {
  report(): Promise<AttackReport>;
}

/** Starts an attack in a process of its own. */
function startAttack(order: AttackOrder): Attack {
  const child: ChildProcess = fork(fileURLToPath(new URL('./hostile-tenant.ts', import.meta.url)), {
    env: { PATH: process.env['PATH'] },
    execArgv: [],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  child.send(order);
  return {
    async report() {
      const told = once(child, 'message');
      child.send('report');
      const [report] = await told;
      // The forked process sends nothing else.
      return report as AttackReport;
    },
  };
}

test('an honest tenant keeps working within its limits while another tenant attacks', {
  timeout: seconds * 1_000 + 180_000,
}, async (context) => {
  if (process.env['SOAK'] !== '1' && process.env['LOAD_SECONDS'] === undefined) {
    leaveOut(context, 'It is part of `npm run test:soak`.');
  }
  const repository = createRepository(temporaryFolder());
  const branches = Array.from({ length: 100 }, (_, index) => `branch-${index}`);
  repository.commit(...branches.map((branch) => ({ branch, files: { [`${branch}.txt`]: branch } })));

  const service = await startServiceProcess({ args: ['--log-level', 'warn'] });
  onTestFinished(async () => void (await service.kill()));
  const { baseUrl } = service;
  const { get } = callsTo(service);
  const honestToken = await tenant(service, 'honest', pathToFileURL(repository.path).href);
  const hostileToken = await tenant(service, 'hostile', await silentRemote());

  const honest = await startHonestTenant({ baseUrl, token: honestToken, workspace: 'honest', branches });
  const seed = printedSeed('The attacks');
  const order = {
    origin: new URL(baseUrl).origin,
    workspace: 'hostile',
    token: hostileToken,
    seed,
    receivers,
    strength,
  };
  const hostile = [
    attacks.filter((name) => floods.includes(name)),
    attacks.filter((name) => !floods.includes(name)),
  ].map((names) => startAttack({ ...order, attacks: names }));

  const resident: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    await pause((seconds * 1_000) / samples);
    const { text } = await get('/metrics');
    resident.push(Number(/^process_resident_memory_bytes (\S+)$/m.exec(text)?.[1] ?? Number.NaN));
  }
  const reports: AttackReport = Object.assign({}, ...(await Promise.all(hostile.map((attack) => attack.report()))));
  const undelivered = await honest.stop();

  for (const name of attacks) expect(Object.keys(reports[name] ?? {}), name).not.toEqual([]);
  measured('locks, renewals and releases alongside a hostile tenant', honest.took.length);
  measured('rejected, wrong or lost requests of an honest tenant', honest.wrong.length, honest.wrong.slice(0, 20));
  await expect.poll(undelivered, { timeout: 60_000 }).toEqual([]);
  measured('response time of locks alongside a hostile tenant, p99', percentileOf(honest.took, 99));
  measured('the slowest delivery alongside a hostile tenant', Math.max(...honest.delays));
  measured('slowest response of /healthz alongside a hostile tenant', Math.max(...honest.probes));
  measured('peak resident memory alongside a hostile tenant', megabytes(Math.max(...resident)));
  // In a short run the service is still warming up.
  if (seconds >= 60) {
    const growth = medianOf(third(resident, 2)) - medianOf(third(resident, 1));
    measured('growth of resident memory alongside a hostile tenant', megabytes(growth));
  }
  expect(service.command.stderr()).not.toContain('"level":"error"');
  expect(await service.stop()).toBe(0);
});
