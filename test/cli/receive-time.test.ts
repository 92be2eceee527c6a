import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { medianOf } from '../../bench/statistics.ts';
import { sharedService } from '../service/http/shared-service.ts';
import { createGitServer } from '../support/git-server.ts';
import { listenHere } from '../support/listen.ts';
import { measured } from '../support/measured.ts';
import { runs } from '../support/runs.ts';
import { runCommand } from '../support/service-process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const service = sharedService();

const roundTripMs = 10;

/** Passes on bytes after half a round trip, and the first ones this much later. */
function passLate(from: Socket, to: Socket, connectMs: number): void {
  let dueAt = performance.now() + connectMs;
  from.on('data', (bytes) => {
    dueAt = Math.max(dueAt, performance.now()) + roundTripMs / 2;
    setTimeout(() => to.write(bytes), dueAt - performance.now());
  });
  from.on('error', () => undefined).once('close', () => to.destroy());
}

test('an ordinary push does not wait long for the check, over a network of 10 ms', async () => {
  const network = createServer((incoming) => {
    const outgoing = connect(service.port, '127.0.0.1');
    // Opening a connection takes a round trip, too.
    passLate(incoming, outgoing, roundTripMs);
    passLate(outgoing, incoming, 0);
  });
  const { port, close } = await listenHere(network);
  onTestFinished(close);
  const server = await createGitServer({
    environment: {
      WORKSPACE_BASE_URL: `http://127.0.0.1:${port}/v1`,
      WORKSPACE_TOKEN: service.secret,
      WORKSPACE_ID: service.home,
    },
  });
  server.start({ 'Content/Hero.uasset': 'hero' });
  const before = server.git('rev-parse', 'main');
  server.change({ 'Content/Hero.uasset': 'better', 'Content/A.umap': 'map', 'src/a.c': 'a' });
  await server.push({}, 'main:feature');

  /** The time from the start of the hook to its end, as git waits for it. */
  async function waitMs(): Promise<number> {
    const startedAt = performance.now();
    const hook = spawn('hooks/pre-receive', { cwd: server.repository.path, stdio: ['pipe', 'ignore', 'inherit'] });
    hook.stdin.end(`${before} ${server.git('rev-parse', 'main')} refs/heads/main\n`);
    expect(await once(hook, 'close')).toEqual([0, null]);
    return performance.now() - startedAt;
  }
  const times: number[] = [];
  for (let round = 0; round < 11; round += 1) times.push(await waitMs());
  measured('a push waited for the check of its files, over a network of 10 ms (ms)', medianOf(times), {
    atMost: runs(30_000, 300),
  });
});

test.each([
  { name: 'check', args: ['Content/Hero.uasset'] },
  { name: 'take', args: ['Content/Hero.uasset'] },
  { name: 'ask', args: ['Content/Hero.uasset'] },
  { name: 'run', args: ['Content/Hero.uasset', '--', 'true'] },
])('lock $name compiles no part of the service, such as its storage', async ({ name, args }) => {
  const coverage = temporaryFolder();
  const environment = { NODE_V8_COVERAGE: coverage, WORKSPACE_TOKEN: 'wsa_x', WORKSPACE_ID: 'game' };
  await runCommand(['lock', name, ...args], {
    environment: { ...environment, WORKSPACE_BASE_URL: `${service.baseUrl}/v1` },
  });
  // `lock run` starts another process.
  const parts = readdirSync(coverage).flatMap((file) => {
    const { result }: { result: { url: string }[] } = JSON.parse(readFileSync(join(coverage, file), 'utf8'));
    return result.flatMap(({ url }) => /^\.\/(.*)-[\w-]{8}\.js$/.exec(url)?.[1] ?? []);
  });
  expect(parts).toContain('lock-commands');
  for (const part of ['operator-commands', 'serve', 'migrate', 'postgres']) expect(parts).not.toContain(part);
});
