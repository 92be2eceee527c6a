import { createServer, type Socket } from 'node:net';
import { listenHere } from '../support/listen.ts';

/** A server that answers each request with the next bytes, and all that follow with the last. */
export interface AnsweringServer {
  readonly baseUrl: string;
  /** Each character stands for a byte. */
  answerWith(answers: readonly string[]): void;
  close(): void;
}

export async function startAnsweringServer(): Promise<AnsweringServer> {
  const sockets = new Set<Socket>();
  let answers: readonly string[] = [];
  let turn = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    // A request is short, so that it comes at once or nearly: each connection is for one.
    socket.once('data', () => {
      socket.end(answers[Math.min(turn, answers.length - 1)] ?? '', 'latin1');
      turn += 1;
    });
    socket.on('data', () => undefined);
  });
  const port = await listenHere(server);
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    answerWith(given) {
      answers = given;
      turn = 0;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
