import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { leaveOut } from '../support/left-out.ts';
import { freePort } from '../support/listen.ts';
import { nothing, reset } from '../support/other-servers/responses.ts';
import { startOtherServer } from '../support/other-servers/start-other-server.ts';
import {
  caddyWithSecond,
  nginxWithSecond,
  type Product,
  programOf,
  startReverseProxy,
} from '../support/reverse-proxy.ts';
import { selfSigned } from '../support/self-signed.ts';

const { cert, key } = selfSigned('localhost');
const methods = ['GET', 'POST', 'DELETE'] as const;

/** An instance that records its requests, and may then break the connection. */
async function startInstance({ breaks = false, isReady = true } = {}) {
  const received: string[] = [];
  const instance = { received, isReady };
  const { port } = await startOtherServer((response, request) => {
    if (request.url === '/readyz') {
      nothing(instance.isReady ? 200 : 503)(response, request);
      return;
    }
    received.push(request.method);
    (breaks ? reset : nothing(200))(response, request);
  });
  return Object.assign(instance, { port });
}

type Send = (method: string) => Promise<number>;

async function startProxy(product: Product, servicePort: number): Promise<Send> {
  const proxy = await startReverseProxy(product, { servicePort, cert, key });
  onTestFinished(proxy.stop);
  return async (method) => {
    const body = method === 'POST' ? 'x'.repeat(100_000) : '';
    const sent = request(`${proxy.origin}/v1/a%2Fb`, {
      method,
      agent: false,
      ca: cert,
      servername: 'localhost',
      headers: { 'content-length': body.length },
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.statusCode ?? 0;
  };
}

describe.each([
  ['nginx', nginxWithSecond],
  ['Caddy', caddyWithSecond],
])('%s in front of two instances', (name, withSecond) => {
  beforeEach((context) => {
    if (programOf(withSecond(0)) === undefined) leaveOut(context, `There is no ${name} on this machine.`);
  });

  test.each(methods)('passes each %s to the other instance while one refuses connections', async (method) => {
    const { port, received } = await startInstance();
    for (const [first, second] of [
      [await freePort(), port],
      [port, await freePort()],
    ] as const) {
      const send = await startProxy(withSecond(second), first);
      for (let times = 0; times < 6; times += 1) expect(await send(method)).toBe(200);
    }
    expect(received).toEqual(Array.from({ length: 12 }, () => method));
  });

  test.each(['POST', 'DELETE'])('does not repeat a %s whose response was lost', async (method) => {
    const instances = [await startInstance({ breaks: true }), await startInstance({ breaks: true })] as const;
    const send = await startProxy(withSecond(instances[0].port), instances[1].port);
    expect(await send(method)).toBe(502);
    expect(instances.flatMap(({ received }) => received)).toEqual([method]);
  });
});
