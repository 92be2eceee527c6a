import { EventEmitter, once } from 'node:events';
import {
  type Answer,
  type OtherServer,
  type OtherServerOptions,
  openOtherServer,
  type SeenRequest,
} from './other-servers/other-server.ts';
import { inTurn, nothing } from './other-servers/responses.ts';

export interface WebhookReceiver extends Omit<OtherServer, 'requests'> {
  /** The URL of the receiver, with the given path. */
  readonly url: (path?: string) => string;
  /** All deliveries that have arrived. */
  readonly deliveries: readonly SeenRequest[];
  /** Sets the response to each further request in turn; the last one is also that to all later requests. */
  readonly behave: (...answers: readonly [Answer, ...Answer[]]) => void;
  /** Sets the response to every request to the path; the responses above are for all others. */
  readonly behaveAt: (path: string, answer: Answer) => void;
  /** The first delivery that no earlier call has returned, as soon as it arrives. */
  readonly nextDelivery: () => Promise<SeenRequest>;
}

/** A receiver of webhooks at a loopback address. It responds 204 until it is given another behavior. */
export async function startWebhookReceiver(options: OtherServerOptions = {}): Promise<WebhookReceiver> {
  let answer: Answer = nothing(204);
  const byPath = new Map<string, Answer>();
  const arrivals = new EventEmitter();
  let handedOut = 0;
  const { requests, ...server } = await openOtherServer((response, request) => {
    arrivals.emit('delivery');
    (byPath.get(request.url) ?? answer)(response, request);
  }, options);
  return {
    ...server,
    url: (path = '/hook') => server.origin + path,
    deliveries: requests,
    behave(...answers) {
      answer = inTurn(...answers);
    },
    behaveAt: (path, always) => void byPath.set(path, always),
    async nextDelivery() {
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
