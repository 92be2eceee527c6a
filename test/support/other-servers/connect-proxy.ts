import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface ConnectProxy {
  readonly address: string;
  /** The hosts and ports of the requested tunnels, with the credentials. */
  readonly asked: readonly { readonly target: string; readonly authorization: string | undefined }[];
  /** Requests that were not for a tunnel. */
  readonly others: readonly string[];
  /** Resolves when the next connection to the proxy has ended. */
  nextEnd(): Promise<void>;
}

export interface ConnectProxyOptions {
  /** `silent` never responds; a number refuses with that status. */
  readonly manner?: 'open' | 'silent' | number;
}

/**
 * A proxy that opens tunnels (RFC 9110 section 9.3.6). Every tunnel leads to this machine, whatever host is requested,
 * so that tests can use host names that are not loopback.
 */
export async function startConnectProxy({ manner = 'open' }: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const asked: { target: string; authorization: string | undefined }[] = [];
  const others: string[] = [];
  const sockets = new Set<Socket>();
  const enders: (() => void)[] = [];

  const keep = (socket: Socket): void => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
  };

  const server = createServer((request, response) => {
    others.push(request.url ?? '');
    response.writeHead(405).end();
  });
  server.on('connection', (socket) => {
    keep(socket);
    socket.on('close', () => enders.shift()?.());
  });
  server.on('connect', (request, clientSide) => {
    const target = request.url ?? '';
    asked.push({ target, authorization: request.headers['proxy-authorization'] });
    if (manner === 'silent') {
      // Without reading, the end would not be noticed either.
      clientSide.on('end', () => clientSide.destroy()).resume();
      return;
    }
    if (manner !== 'open') {
      clientSide.end(`HTTP/1.1 ${manner} No\r\n\r\n`);
      return;
    }
    const serverSide = connect({ host: '127.0.0.1', port: Number(target.split(':').at(-1)) });
    keep(serverSide);
    serverSide.on('connect', () => {
      clientSide.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      clientSide.pipe(serverSide).pipe(clientSide);
    });
    serverSide.on('error', () => clientSide.destroy());
    clientSide.on('close', () => serverSide.destroy());
  });

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://127.0.0.1:${port}`,
    asked,
    others,
    nextEnd: () => new Promise((resolve) => enders.push(resolve)),
  };
}
