import { randomUUID } from 'node:crypto';
import { ask } from '../support/running-service.ts';
import { type Random, randomOf } from '../support/seed.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { garbage } from './garbage.ts';
import { sendGarbage } from './send-garbage.ts';

export interface MixedLoad {
  /** How many requests of each kind were made. */
  readonly made: Readonly<Record<string, number>>;
  /** What was answered with a status that it must not have. */
  readonly wrong: readonly string[];
  stop(): Promise<void>;
}

const pauseMs = 10;
/** Of each kind. */
const atOnce = 3;

/** Everything that clients do, all at once: locks, lists, syncs, hooks, and garbage. */
export function startMixedLoad(service: ServiceProcess, hookUrl: string, seed: number): MixedLoad {
  const { baseUrl, token, workspace } = service;
  const url = `/workspaces/${workspace}`;
  const port = Number(new URL(baseUrl).port);
  const made: Record<string, number> = {};
  const wrong: string[] = [];
  let stopped = false;

  async function expectOne(statuses: readonly number[], method: string, path: string, json?: unknown) {
    const headers = { 'idempotency-key': randomUUID() };
    const reply = await ask(baseUrl, method, path, { token, ...(json !== undefined && { json, headers }) });
    if (!statuses.includes(reply.status) && wrong.length < 20) {
      wrong.push(`${method} ${path}: ${reply.status} ${reply.text}`);
    }
    return reply;
  }

  const works: Readonly<Record<string, (random: Random) => Promise<unknown>>> = {
    async locks(random) {
      // Some are left to their ttl.
      const path = `load/${Math.floor(random() * 5_000)}`;
      const { status } = await expectOne([201, 409], 'POST', `${url}/locks`, { path, type: 'exclusive', ttl: '2s' });
      if (status !== 201 || random() < 0.3) return;
      await expectOne([204, 403, 404], 'DELETE', `${url}/locks/${encodeURIComponent(path)}`);
    },
    lists: () => expectOne([200], 'GET', `${url}/locks?limit=100`),
    syncs: () => expectOne([202], 'POST', `${url}/sync`, { branch: 'main' }),
    hooks: (random) =>
      expectOne([200, 201], 'POST', `${url}/hooks`, {
        url: `${hookUrl}?${Math.floor(random() * 3)}`,
        events: ['lock.acquired', 'sync.succeeded'],
      }),
    branches: () => expectOne([200], 'GET', `${url}/branches`),
  };

  async function repeat(kind: string, pause: number, work: () => Promise<unknown>): Promise<void> {
    while (!stopped) {
      await work().catch((error: unknown) => wrong.length < 20 && wrong.push(`${kind}: ${String(error)}`));
      made[kind] = (made[kind] ?? 0) + 1;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  const random = randomOf(seed);
  const pieces = garbage(random, { workspace, token, smuggled: 'smuggled' });
  const sendPiece = async (): Promise<void> => {
    const { value } = pieces.next();
    if (value === undefined) return;
    const sent = await sendGarbage(port, value);
    if (sent.kind === 'silent') wrong.push(`${value.kind} was not answered.`);
  };
  const several = (kind: string, work: () => Promise<unknown>) =>
    Array.from({ length: atOnce }, () => repeat(kind, pauseMs, work));
  const running = Object.entries(works).flatMap(([kind, work]) =>
    // Each of these starts processes of git.
    kind === 'syncs' || kind === 'branches'
      ? [repeat(kind, 50 * pauseMs, () => work(random))]
      : several(kind, () => work(random)),
  );
  running.push(...several('garbage', sendPiece));
  return {
    made,
    wrong,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}
