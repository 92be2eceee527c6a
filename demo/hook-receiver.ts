import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Delivery, startWebhookReceiver } from '../test/support/webhook-receiver.ts';
import { DemoFailure } from './ending.ts';

/** What the service tells, of which the demo shows what it is about. */
interface Told {
  readonly type: string;
  readonly data: {
    readonly sync?: { readonly branch: string; readonly head: string | null };
    readonly lock?: { readonly path: string };
    readonly released_by?: string;
  };
}

export interface HookReceiver {
  readonly url: string;
  /** What its calls are signed with. */
  readonly secret: string;
  /** When so many calls have arrived, each signed as it should be. */
  arrived(count: number): Promise<void>;
  close(): Promise<void>;
}

function about({ data: { sync, lock, released_by } }: Told): string {
  if (sync !== undefined) return `${sync.branch} is at ${sync.head?.slice(0, 10) ?? 'nothing'}`;
  return `${lock?.path ?? 'a path'}, by ${released_by ?? 'its lifetime'}`;
}

/** A receiver as a build system has one: it believes a call only after it has looked at the signature. */
export async function startHookReceiver(onCall: (sentence: string) => void): Promise<HookReceiver> {
  const receiver = await startWebhookReceiver();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const verifier = new Webhook(secret);

  const show = ({ headers, body }: Delivery): void => {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    try {
      // What is signed is the service's, and its own tests hold it to this form.
      const told = verifier.verify(body, texts) as Told;
      onCall(`${told.type}: ${about(told)} (signature verified)`);
    } catch (error) {
      throw new DemoFailure(
        `A webhook call could not be verified: ${error instanceof Error ? error.message : String(error)}.`,
      );
    }
  };

  let shown = 0;
  let next = Promise.withResolvers<void>();
  const showAll = async (): Promise<never> => {
    for (;;) {
      show(await receiver.nextDelivery());
      shown += 1;
      next.resolve();
      next = Promise.withResolvers<void>();
    }
  };
  const showing = showAll();
  // Whoever waits for calls learns of one that could not be verified; it may come before.
  showing.catch(() => {});
  return {
    url: receiver.url(),
    secret,
    async arrived(count) {
      while (shown < count) await Promise.race([next.promise, showing]);
    },
    close: () => receiver.close(),
  };
}
