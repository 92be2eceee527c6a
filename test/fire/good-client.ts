import { ask } from '../support/running-service.ts';
import type { ServiceProcess } from '../support/service-process.ts';

export interface GoodClient {
  /** Milliseconds that each of its requests took. */
  readonly took: readonly number[];
  /** What was not as it has to be. */
  readonly wrong: readonly string[];
  /** When the one that is under way is over. */
  stop(): Promise<void>;
}

/** Locks, lists, is held up and releases, all the time, and looks closely at what it is answered. */
export function startGoodClient({ baseUrl, token, workspace }: ServiceProcess, pauseMs: number): GoodClient {
  const took: number[] = [];
  const wrong: string[] = [];
  let stopped = false;
  const url = `/workspaces/${workspace}/locks`;

  async function expectStatus(status: number, method: string, path: string, json?: unknown) {
    const began = performance.now();
    const reply = await ask(baseUrl, method, path, { token, ...(json !== undefined && { json }) });
    took.push(performance.now() - began);
    if (reply.status !== status) wrong.push(`${method} ${path}: ${reply.status} in place of ${status}: ${reply.text}`);
    return reply;
  }

  async function once(index: number): Promise<void> {
    const json = { path: `good/${index}`, type: 'exclusive', ttl: '1h' };
    const { body } = await expectStatus(201, 'POST', url, json);
    const held = await expectStatus(409, 'POST', url, json);
    if (held.body?.lock?.id !== body?.id) wrong.push(`${json.path} is held by ${JSON.stringify(held.body)}`);
    const listed = await expectStatus(200, 'GET', `${url}?path=${encodeURIComponent(json.path)}`);
    if (listed.body?.locks?.[0]?.id !== body?.id) wrong.push(`${json.path} is listed as ${listed.text}`);
    await expectStatus(204, 'DELETE', `${url}/${encodeURIComponent(json.path)}`);
  }

  async function run(): Promise<void> {
    for (let index = 0; !stopped; index += 1) {
      await once(index).catch((error: unknown) => wrong.push(String(error)));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }
  const running = run();
  return {
    took,
    wrong,
    async stop() {
      stopped = true;
      await running;
    },
  };
}
