import { connect, createServer } from 'node:net';
import { joinSockets, listenHere } from '../support/listen.ts';

/** A head may follow the body of the previous request, which ends without a line break. */
const head = /(?:GET|POST|PUT|DELETE) \/[^ \r\n]* HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*/g;

export type RecordingTap = Awaited<ReturnType<typeof startRecordingTap>>;

/** A wire in front of a server that records the data sent to the server. */
export async function startRecordingTap(serverPort: number) {
  const recorded: string[] = [];

  const server = createServer((incoming) => {
    let text = '';
    incoming.on('data', (bytes) => {
      // Only heads matter, so the text before them can be dropped.
      text = (text + bytes.toString('latin1')).slice(-65_536);
      const found = text.match(head) ?? [];
      recorded.push(...found);
      if (found.length > 0) text = '';
    });
    joinSockets(incoming, connect(serverPort, '127.0.0.1'));
  });
  const { port, close } = await listenHere(server);
  return {
    port,
    /** The request heads since the last call, without the end of the last line. */
    heads: (): readonly string[] => recorded.splice(0),
    /** Stops listening, and cuts all connections. */
    close,
  };
}
