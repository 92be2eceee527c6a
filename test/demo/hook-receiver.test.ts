import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { startHookReceiver } from '../../scripts/demo/hook-receiver.ts';

const body = JSON.stringify({
  type: 'lock.released',
  data: { lock: { path: 'Content/Hero.uasset' }, released_by: 'ada' },
});

test('shows and counts webhook calls with a valid signature, and fails waiting callers for an invalid one', async () => {
  const shown: string[] = [];
  const receiver = await startHookReceiver((sentence) => void shown.push(sentence));
  onTestFinished(() => receiver.close());
  async function call(secret: string): Promise<void> {
    const at = new Date();
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
      'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
    };
    await fetch(receiver.url, { method: 'POST', body, headers });
  }
  const both = receiver.arrived('lock.released', 2);
  await call(receiver.secret);
  await receiver.arrived('lock.released', 1);
  await call(receiver.secret);
  await both;
  await call(`whsec_${Buffer.alloc(32).toString('base64')}`);
  await expect(receiver.arrived('lock.released', 3)).rejects.toThrow('A webhook call could not be verified');
  expect(shown).toEqual(Array(2).fill('lock.released: Content/Hero.uasset, by ada'));
});
