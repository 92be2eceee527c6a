import { openOtherServer } from './other-servers/other-server.ts';
import { json, nothing } from './other-servers/responses.ts';

const answers: Readonly<Record<string, ReturnType<typeof json>>> = {
  GET: json(200, { workspaces: [{ id: 'game' }], locks: [] }),
  POST: json(201, { id: '1' }, { etag: '"1"' }),
  DELETE: nothing(204),
};

/** Grants every lock, releases every lock, and has one workspace. It takes no time, to measure only the client. */
export const startSmallService = () =>
  openOtherServer((response, request) => answers[request.method]?.(response, request));
