import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import type { SeenRequest } from '../../test/support/other-servers/other-server.ts';
import { startWebhookReceiver } from '../../test/support/webhook-receiver.ts';
import { DemoFailure } from './ending.ts';

/** The fields of an event that the demo uses. */
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
  /** The secret that signs the calls. */
  readonly secret: string;
  /** Waits until `count` events of the type have arrived with a valid signature, and returns all of that type. */
  arrived(type: string, count: number): Promise<readonly HookEvent[]>;
  close(): Promise<void>;
}

function about({ data: { sync, lock, released_by, forced } }: HookEvent): string {
  if (sync !== undefined) return `${sync.branch} is at ${sync.head?.slice(0, 10) ?? 'nothing'}`;
  // Forced releases carry the name of a user of this machine, which must not appear in a recording.
  return `${lock?.path ?? 'a path'}, by ${forced ? 'force' : (released_by ?? 'its lifetime')}`;
}

/** A receiver like that of a build system: it accepts a call only after verifying its signature. */
export async function startHookReceiver(onCall: (sentence: string) => void): Promise<HookReceiver> {
  const receiver = await startWebhookReceiver();
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  const verifier = new Webhook(secret);

  const show = ({ headers, body }: SeenRequest): HookEvent => {
    const texts = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
    try {
      // The signature proves that the service sent the event, and the tests of the service cover its form.
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
  // An invalid call may come before anything waits for one. Later waiters get the error.
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
