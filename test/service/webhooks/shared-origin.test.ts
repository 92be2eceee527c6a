import { expect, onTestFinished, test } from 'vitest';
import { nothing, silence } from '../../support/other-servers/responses.ts';
import { ask } from '../../support/running-service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { receiver } from './delivering.ts';
import { patient } from './hooked-service.ts';

const answering = ['/ci', '/chat', '/bot'];

/** A service, and one origin where some paths respond and all others hang. */
async function gateway() {
  const { workspace, token, baseUrl, stop } = await startServiceProcess({ args: ['--log-level', 'error'] });
  onTestFinished(() => stop().then(() => undefined));
  const target = await receiver();
  target.behave(silence);
  for (const path of answering) target.behaveAt(path, nothing(204));
  async function post(resource: 'hooks' | 'locks', json: unknown): Promise<void> {
    const { origin } = new URL(baseUrl);
    const reply = await ask(origin, 'POST', `/v1/workspaces/${workspace}/${resource}`, { token, json });
    expect(reply.status).toBe(201);
  }
  const arrivedAt = (path: string): number => target.deliveries.filter((delivery) => delivery.url === path).length;
  let locks = 0;
  return {
    async register(paths: readonly string[]): Promise<void> {
      for (const path of paths) await post('hooks', { url: target.url(path), events: ['lock.acquired'] });
    },
    async lockAndAwaitAnswered(...paths: readonly string[]): Promise<void> {
      for (const path of paths) await post('locks', { path, type: 'exclusive', ttl: '1h' });
      locks += paths.length;
      await expect.poll(() => answering.map(arrivedAt), patient).toEqual(answering.map(() => locks));
    },
  };
}

test('a URL that hangs does not delay new webhooks to other URLs of the same origin', async () => {
  const { register, lockAndAwaitAnswered } = await gateway();
  await register(['/silent', ...answering]);
  await lockAndAwaitAnswered('a', 'b', 'c', 'd', 'e');
  await lockAndAwaitAnswered('f', 'g');
});
