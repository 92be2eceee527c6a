import { connect, createServer, type Server, type Socket } from 'node:net';

/** A wire in front of a server that records the data sent to the server. */
export interface RecordingTap {
  readonly port: number;
  /** The request heads since the last call, without the end of the last line. */
  heads(): readonly string[];
  /** Stops listening, and cuts all connections. */
  close(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
}

/** A head may follow the body of the previous request, which ends without a line break. */
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
        // Only heads matter, so the text before them can be dropped.
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
