import type { Server } from 'node:net';

/** Lets a server listen on a free port of this machine only; returns the port. */
export async function listenHere(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('The server does not listen on TCP.');
  return address.port;
}
