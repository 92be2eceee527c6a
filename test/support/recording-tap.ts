import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire in front of a server, and what has gone over it towards the server. */
export interface RecordingTap {
  readonly port: number;
  /** The heads of the requests that have arrived since this was asked last, without the end of the last line. */
  heads(): readonly string[];
  /** Nothing listens any more, and what was connected is cut. */
  close(): Promise<void>;
  /** On the same port as before. */
  open(): Promise<void>;
}

/** It may follow the body of the request before it, which ends without a line break. */
const head = /(?:GET|POST|PUT|DELETE) \/[^ \r\n]* HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)*/g;

export async function startRecordingTap(serverPort: number): Promise<RecordingTap> {
  const sockets = new Set<Socket>();
  const recorded: string[] = [];
  let server: Server;
  let port = 0;

  const track = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };

  async function open(): Promise<void> {
    server = createServer((incoming) => {
      const outgoing = connect(serverPort, '127.0.0.1');
      for (const socket of [incoming, outgoing]) track(socket);
      let text = '';
      incoming.on('data', (bytes) => {
        // Heads alone are looked at, and a body that is long says nothing.
        text = (text + bytes.toString('latin1')).slice(-65_536);
        const found = text.match(head) ?? [];
        recorded.push(...found);
        if (found.length > 0) text = '';
      });
      incoming.pipe(outgoing).pipe(incoming);
      incoming.on('close', () => outgoing.destroy());
      outgoing.on('close', () => incoming.destroy());
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    const address = server.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  }

  await open();
  return {
    get port() {
      return port;
    },
    heads: () => recorded.splice(0),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    open,
  };
}
