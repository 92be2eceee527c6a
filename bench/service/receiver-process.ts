import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Takes every webhook, says nothing of it, and tells when all that were announced have come: see receiver.ts. */

export type ReceiverMessage =
  | { readonly kind: 'listening'; readonly port: number }
  | { readonly kind: 'all'; readonly ms: number };

const tell = (message: ReceiverMessage): void => void process.send?.(message);

let firstAt = 0;
let awaited = 0;
let count = 0;

const server = createServer((request, response) => {
  request.resume().once('end', () => {
    response.writeHead(204).end();
    if (count === 0) firstAt = performance.now();
    count += 1;
    if (count === awaited) tell({ kind: 'all', ms: performance.now() - firstAt });
  });
});
// Only receiver.ts sends to this process: how many there will be, from now on.
process.on('message', (number: number) => {
  awaited = number;
  count = 0;
});
process.once('disconnect', () => process.exit());
server.listen(0, '127.0.0.1', () => {
  // A server that listens on TCP has an address with a port.
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port });
});
