import { type Answer, openOtherServer, type SeenRequest } from '../support/other-servers/other-server.ts';
import { json, nothing } from '../support/other-servers/responses.ts';

/** How a service with the seven endpoints of the interface, and nothing more, answers. */
export interface BareHabits {
  readonly granted?: (path: string) => Answer;
  readonly held?: Answer;
  readonly released?: Answer;
  readonly locks?: (paths: readonly string[]) => Answer;
  readonly workspaces?: Answer;
  readonly branches?: Answer;
  readonly synced?: Answer;
  readonly hooked?: Answer;
  /** The number of a request for a path that others hold, counted from 0, at which it becomes free. */
  readonly freeAt?: number;
  /** An answer in place of the usual one; nothing changes then. */
  readonly instead?: (request: SeenRequest) => Answer | undefined;
  /** The server routes only raw slashes to its release. */
  readonly rawSlashes?: boolean;
  /** The server closes each connection after a response, and does not announce it. */
  readonly closesConnections?: boolean;
}

function listPaths(paths: readonly string[]): Answer {
  const entries = paths.map((path) => ({ path }));
  return json(200, entries);
}

/** Opens such a service. `heldByOthers` are locked from the start. */
export async function openBareService(habits: BareHabits, heldByOthers: readonly string[] = []) {
  const { locks: list = listPaths } = habits;
  const locked = new Set(heldByOthers);
  let refusals = 0;

  function lock({ body }: SeenRequest): Answer {
    const { path } = JSON.parse(body);
    if (refusals === habits.freeAt) locked.clear();
    if (locked.has(path)) {
      refusals += 1;
      return habits.held ?? json(409, { error: 'locked' });
    }
    locked.add(path);
    return habits.granted?.(path) ?? json(201, {});
  }

  function release(path: string): Answer {
    const isRouted = !habits.rawSlashes || !path.includes('%2F');
    if (isRouted && locked.delete(decodeURIComponent(path))) return habits.released ?? nothing(204);
    return json(404, { error: 'not found' });
  }

  function answerTo(request: SeenRequest): Answer {
    const instead = habits.instead?.(request);
    if (instead !== undefined) return instead;
    const { method } = request;
    const path = request.url.replace(/\?.*$/, '');
    const [, lockPath] = /^\/v1\/workspaces\/game\/locks\/(.+)$/.exec(path) ?? [];
    if (method === 'DELETE' && lockPath !== undefined) return release(lockPath);
    switch (`${method} ${path}`) {
      case 'GET /v1/workspaces':
        return habits.workspaces ?? json(200, ['game']);
      case 'GET /v1/workspaces/game/branches':
        return habits.branches ?? json(200, ['main']);
      case 'GET /v1/workspaces/game/locks':
        return list([...locked]);
      case 'POST /v1/workspaces/game/locks':
        return lock(request);
      case 'POST /v1/workspaces/game/sync':
        return habits.synced ?? json(202, { sync_id: 's1', status: 'queued', branch: 'main', estimated_objects: 3 });
      case 'POST /v1/workspaces/game/hooks':
        return habits.hooked ?? json(201, {});
      default:
        return json(404, { error: 'no such route' });
    }
  }

  const server = await openOtherServer((response, request) => {
    if (habits.closesConnections) response.once('finish', () => response.socket?.destroy());
    answerTo(request)(response, request);
  });
  return { ...server, locked };
}
