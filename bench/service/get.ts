import { type Agent, get as httpGet } from 'node:http';
import { text } from 'node:stream/consumers';
import type { RunningService } from './services.ts';

/** A GET to a service of ours: what its answer has, which is JSON. Without an agent, on a connection of its own. */
export async function get(
  { baseUrl, token }: RunningService,
  target: string,
  signal: AbortSignal,
  agent?: Agent,
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const headers = { authorization: `Bearer ${token}` };
  httpGet(new URL(target, baseUrl), { agent: agent ?? false, headers, signal }, (answer) => {
    text(answer).then((body) => {
      if (answer.statusCode === 200) resolve(JSON.parse(body));
      else reject(new Error(`${target} was answered with ${answer.statusCode}: ${body}`));
    }, reject);
  }).once('error', reject);
  return promise;
}
