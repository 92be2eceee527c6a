import { Webhook } from 'standardwebhooks';
import { expect, onTestFinished, test } from 'vitest';
import { startHookReceiver } from '../../demo/hook-receiver.ts';

const body = JSON.stringify({
  type: 'lock.released',
  data: { lock: { path: 'Content/Hero.uasset' }, released_by: 'ada' },
});

async function setUp() {
  const shown: string[] = [];
  const receiver = await startHookReceiver((sentence) => void shown.push(sentence));
  onTestFinished(() => receiver.close());
  const call = async (secret: string): Promise<void> => {
    const at = new Date();
    await fetch(receiver.url, {
      method: 'POST',
      body,
      headers: {
        'webhook-id': 'evt_1',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
        'webhook-signature': new Webhook(secret).sign('evt_1', at, body),
      },
    });
  };
  return { receiver, shown, call };
}

test('a call with a valid signature is shown and counted', async () => {
  const { receiver, shown, call } = await setUp();
  const both = receiver.arrived(2);
  await call(receiver.secret);
  await receiver.arrived(1);
  await call(receiver.secret);
  await both;
  expect(shown).toEqual(Array(2).fill('lock.released: Content/Hero.uasset, by ada (signature verified)'));
});

test('a call with an invalid signature is not shown, and fails those who wait for calls', async () => {
  const { receiver, shown, call } = await setUp();
  await call(`whsec_${Buffer.alloc(32).toString('base64')}`);
  await expect(receiver.arrived(1)).rejects.toThrow('A webhook call could not be verified');
  expect(shown).toEqual([]);
});
