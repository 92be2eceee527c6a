import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export type OnRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** A connection with more requests than these is not read further until some of them are answered. */
const maxWaiting = 15;

/** What was read in one piece is parsed in one piece: no client that means well has so many requests in it. */
const maxParsed = 128;

interface Connection {
  isBusy: boolean;
  readonly waiting: (() => void)[];
}

/**
 * A client may send its next requests before it has read an answer (RFC 9112, section 9.3.2). They are begun one after the
 * other, each when the answer before it is with the operating system: whoever does not read has one answer in the memory
 * of the service, and not as many as fit into a second.
 */
export function oneAfterTheOther(begin: OnRequest): OnRequest {
  const connections = new WeakMap<Socket, Connection>();

  function next(socket: Socket, connection: Connection): void {
    const start = connection.waiting.shift();
    if (start === undefined) connection.isBusy = false;
    else start();
    if (connection.waiting.length <= maxWaiting && socket.isPaused()) socket.resume();
  }

  return (incoming, outgoing) => {
    const { socket } = incoming;
    const connection = connections.get(socket) ?? { isBusy: false, waiting: [] };
    connections.set(socket, connection);
    const start = (): void => {
      outgoing.once('close', () => next(socket, connection));
      begin(incoming, outgoing);
    };
    if (!connection.isBusy) {
      connection.isBusy = true;
      start();
      return;
    }
    connection.waiting.push(start);
    if (connection.waiting.length > maxParsed) {
      connection.waiting.length = 0;
      socket.destroy();
    } else if (connection.waiting.length > maxWaiting) socket.pause();
  };
}
