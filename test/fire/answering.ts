import { createServer, type Socket } from 'node:net';
import { afterAll, beforeAll } from 'vitest';
import { listenHere } from '../support/listen.ts';
import { fasterTime } from '../support/preload.ts';
import { type OneProcess, startOneProcess } from '../support/runner/one-process.ts';

/** A server that sends the next bytes for each request, and repeats the last ones after that. */
interface AnsweringServer {
  readonly baseUrl: string;
  /** Sets the responses; each character stands for a byte. */
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
    // A request is short, so its first chunk is enough: each connection serves one request.
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

/** Runs steps of the action in one process against an answering server, for the tests of one file. */
export function openAnsweredSteps() {
  let server: AnsweringServer;
  let steps: OneProcess;
  beforeAll(async () => {
    server = await startAnsweringServer();
    server.answerWith(['HTTP/1.1 404 x\r\nconnection: close\r\n\r\n']);
    // Post-steps retry for 45 s, and steps retry transient errors many times.
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
