import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { listenHere } from '../support/listen.ts';
import { fasterTime } from '../support/preload.ts';
import { type OneProcess, startOneProcess } from '../support/runner/one-process.ts';

/** A server that answers each request with the next bytes, and all that follow with the last. */
interface AnsweringServer {
  readonly baseUrl: string;
  /** Each character stands for a byte. */
  answerWith(answers: readonly string[]): void;
  close(): void;
}

async function startAnsweringServer(): Promise<AnsweringServer> {
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

/** Steps of the action, one after the other in one process, and the server that answers them, as long as a file of tests. */
export function openAnsweredSteps() {
  let server: AnsweringServer;
  let steps: OneProcess;
  beforeAll(async () => {
    server = await startAnsweringServer();
    server.answerWith(['HTTP/1.1 404 x\r\nconnection: close\r\n\r\n']);
    // Post-steps try for 45 s, and a service in trouble is asked again and again.
    steps = startOneProcess({ NODE_OPTIONS: fasterTime(300) });
  });
  afterAll(async () => {
    await steps.end();
    server.close();
  });
  return {
    baseUrl: () => server.baseUrl,
    answerWith: (answers: readonly string[]) => server.answerWith(answers),
    run: (...step: Parameters<OneProcess['run']>) => steps.run(...step),
  };
}
