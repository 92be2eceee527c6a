import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Ends a server so that every request that has arrived is answered, and nobody else is waited for. */
export function createDrain(server: Server): (withinMs: number) => Promise<void> {
  const connections = new Set<Socket>();
  const beingAnswered = new Set<ServerResponse>();
  const track = (_incoming: IncomingMessage, outgoing: ServerResponse): void => {
    beingAnswered.add(outgoing);
    outgoing.once('close', () => beingAnswered.delete(outgoing));
  };
  server.on('request', track);
  server.on('checkExpectation', track);
  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });

  return async (withinMs) => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    // Otherwise their connections would stay open for a next request.
    for (const outgoing of beingAnswered) outgoing.shouldKeepAlive = false;
    server.closeIdleConnections();
    // Node takes a connection over which nothing has come yet for a busy one.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const cut = setTimeout(() => server.closeAllConnections(), withinMs);
    await closed;
    clearTimeout(cut);
  };
}
