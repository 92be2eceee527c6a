import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Delivery, startWebhookReceiver } from '../test/support/webhook-receiver.ts';
import { DemoFailure } from './ending.ts';

/** What of an event of the service the demo uses. */
export interface HookEvent {
  readonly type: string;
  readonly timestamp: string;
  readonly data: {
    readonly sync?: { readonly branch: string; readonly head: string | null };
    readonly lock?: { readonly path: string; readonly owner: string; readonly acquired_at: string };
    readonly released_by?: string;
    readonly forced?: boolean;
  };
}

export interface HookReceiver {
  readonly url: string;
  /** What its calls are signed with. */
  readonly secret: string;
  /** All events of the type, each signed as it should be, as soon as there are so many. */
  arrived(type: string, count: number): Promise<readonly HookEvent[]>;
  close(): Promise<void>;
}

function about({ data: { sync, lock, released_by, forced } }: HookEvent): string {
  if (sync !== undefined) return `${sync.branch} is at ${sync.head?.slice(0, 10) ?? 'nothing'}`;
  // Who has used force is called after a user of this machine, and that is nobody's business in a recording.
  return `${lock?.path ?? 'a path'}, by ${forced ? 'force' : (released_by ?? 'its lifetime')}`;
}

/** A receiver as a build system has one: it believes a call only after it has looked at the signature. */
export async function startHookReceiver(onCall: (sentence: string) => void): Promise<HookReceiver> {
  const receiver = await startWebhookReceiver();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const verifier = new Webhook(secret);

  const show = ({ headers, body }: Delivery): HookEvent => {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    try {
      // What is signed is the service's, and its own tests hold it to this form.
      const event = verifier.verify(body, texts) as HookEvent;
      onCall(`${event.type}: ${about(event)}`);
      return event;
    } catch (error) {
      throw new DemoFailure(
        `A webhook call could not be verified: ${error instanceof Error ? error.message : String(error)}.`,
      );
    }
  };

  const shown: HookEvent[] = [];
  let next = Promise.withResolvers<void>();
  const showAll = async (): Promise<never> => {
    for (;;) {
      shown.push(show(await receiver.nextDelivery()));
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
    async arrived(type, count) {
      for (;;) {
        const found = shown.filter((event) => event.type === type);
        if (found.length >= count) return found;
        await Promise.race([next.promise, showing]);
      }
    },
    close: () => receiver.close(),
  };
}
