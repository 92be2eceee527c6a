import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { selfSigned } from '../service/webhooks/self-signed.ts';
import { leaveOut } from '../support/left-out.ts';
import { listenHere } from '../support/listen.ts';
import { freePort, nginxWithSecond, programOf, startReverseProxy } from '../support/reverse-proxy.ts';

const { cert, key } = selfSigned('localhost');
const methods = ['GET', 'POST', 'DELETE'] as const;

beforeEach((context) => {
  if (programOf(nginxWithSecond(0)) === undefined) leaveOut(context, 'There is no nginx on this machine.');
});

/** An instance that notes what reaches it, and may then break the connection. */
async function startInstance(breaks: boolean) {
  const received: string[] = [];
  const server = createServer((incoming, outgoing) => {
    received.push(`${incoming.method}`);
    incoming.resume().on('end', () => (breaks ? incoming.socket.resetAndDestroy() : outgoing.end()));
  });
  const port = await listenHere(server);
  onTestFinished(() => void server.close());
  return { port, received };
}

async function startNginx(first: number, second: number) {
  const proxy = await startReverseProxy(nginxWithSecond(second), { servicePort: first, cert, key });
  onTestFinished(proxy.stop);
  return async (method: string): Promise<number> => {
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

test.each(methods)('nginx passes each %s to the other instance while one refuses connections', async (method) => {
  const { port, received } = await startInstance(false);
  for (const [first, second] of [
    [await freePort(), port],
    [port, await freePort()],
  ] as const) {
    const send = await startNginx(first, second);
    for (let times = 0; times < 6; times += 1) expect(await send(method)).toBe(200);
  }
  expect(received).toEqual(Array.from({ length: 12 }, () => method));
});

test.each(['POST', 'DELETE'])('nginx does not repeat a %s whose response was lost', async (method) => {
  const instances = [await startInstance(true), await startInstance(true)] as const;
  const send = await startNginx(instances[0].port, instances[1].port);
  expect(await send(method)).toBe(502);
  expect(instances.flatMap(({ received }) => received)).toEqual([method]);
});

test('nginx repeats a GET whose response was lost', async () => {
  const [bad, good] = [await startInstance(true), await startInstance(false)];
  const send = await startNginx(bad.port, good.port);
  for (let times = 0; times < 4; times += 1) expect(await send('GET')).toBe(200);
  expect(bad.received.length).toBeGreaterThan(0);
});
