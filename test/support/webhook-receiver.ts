import { EventEmitter, once } from 'node:events';
import {
  type Answer,
  type OtherServerOptions,
  openOtherServer,
  type SeenRequest,
} from './other-servers/other-server.ts';
import { inTurn, nothing } from './other-servers/responses.ts';

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>;

/** A receiver of webhooks at a loopback address. It responds 204 until it is given another behavior. */
export async function startWebhookReceiver(options: OtherServerOptions = {}) {
  let answer: Answer = nothing(204);
  const arrivals = new EventEmitter();
  let handedOut = 0;
  const { requests, ...server } = await openOtherServer((response, request) => {
    arrivals.emit('delivery');
    answer(response, request);
  }, options);
  return {
    ...server,
    /** The URL of the receiver, with the given path. */
    url: (path = '/hook') => server.origin + path,
    /** All deliveries that have arrived. */
    deliveries: requests,
    /** Sets the response to each further request in turn; the last one is also that to all later requests. */
    behave(...answers: readonly [Answer, ...Answer[]]) {
      answer = inTurn(...answers);
    },
    /** The first delivery that no earlier call has returned, as soon as it arrives. */
    async nextDelivery(): Promise<SeenRequest> {
      const index = handedOut;
      handedOut += 1;
      for (;;) {
        const delivery = requests[index];
        if (delivery !== undefined) return delivery;
        await once(arrivals, 'delivery');
      }
    },
  };
}
