import { onTestFinished } from 'vitest';
import { type OtherServer, openOtherServer } from './other-server.ts';

/** A server for the current test; it is closed when the test has finished. */
export async function startOtherServer(...given: Parameters<typeof openOtherServer>): Promise<OtherServer> {
  const server = await openOtherServer(...given);
  onTestFinished(server.close);
  return server;
}
