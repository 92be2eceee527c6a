import { problemTypePrefix } from '../interface/problem.ts';
import { nameIn } from './json.ts';
import { etagOf, lockIn } from './known-lock.ts';
import { type ClientResponse, isSuccess, objectIn } from './response.ts';

/** Remembers, for all processes of a job, that the service has shown its marks. */
export interface MarksStore {
  read(): boolean;
  write(): void;
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * The rule that says who sent a response, for all operations. The interface leaves bodies and errors open, so a service
 * is taken at its word until it has shown the marks of ours. From then on, responses without them are from a gateway.
 */
export function createMarks(store: MarksStore | undefined) {
  let shown: boolean | undefined;
  let noted = false;

  /** Reads the store only if a response without marks makes it necessary. */
  function areShown(): boolean {
    shown ??= store?.read() === true;
    return shown;
  }

  return {
    observe(response: ClientResponse): void {
      if (noted || !bearsMarks(response)) return;
      noted = true;
      shown = true;
      store?.write();
    },
    /** Whether the server that answers knows only the interface, and not this route. */
    isUnknownRoute: (response: ClientResponse): boolean =>
      [404, 405, 501].includes(response.status) && !isOwnProblem(response) && !areShown(),
    /** Whether the response, without any mark, is nevertheless the service's own: JSON, or nothing. */
    isFromService: ({ body }: ClientResponse): boolean =>
      (body.kind === 'json' || body.kind === 'empty') && !areShown(),
  };
}

/**
 * Status codes that gateways send in place of a service: they have no route to it, require a login, or show a
 * maintenance page. Some do so after the service has done the work, to replace a 502.
 */
export const isDisputed = (status: number): boolean =>
  [302, 303, 307, 401, 403, 404, 405, 409, 410, 412].includes(status);

/** Whether a gateway, or a router, may have rejected an encoded slash. */
export const rejectsSlashes = (response: ClientResponse): boolean =>
  [400, 404, 405, 414].includes(response.status) && !isOwnProblem(response);

/** JSON, a request id or problem details of another type prove nothing: gateways send these, too. */
export const isOwnProblem = (response: ClientResponse): boolean =>
  nameIn(objectIn(response)['type'])?.startsWith(problemTypePrefix) === true;

const bearsMarks = (response: ClientResponse): boolean =>
  isOwnProblem(response) ||
  (isSuccess(response) && (isOwnLock(response) || isOwnSync(response) || isOwnLease(response)));

/** The shape of a granted lock: it has a fence, and its id is its ETag. */
function isOwnLock(response: ClientResponse): boolean {
  const { id, fence, expires_at } = lockIn(objectIn(response));
  const isComplete = typeof id === 'string' && typeof fence === 'number' && typeof expires_at === 'string';
  return isComplete && etagOf(response) === `"${id}"`;
}

/** The interface has no leases. */
function isOwnLease(response: ClientResponse): boolean {
  const { id, state, locks, blocked } = objectIn(response);
  return typeof id === 'string' && typeof state === 'string' && (locks ?? blocked) !== undefined;
}

/** It counts more than the interface asks for. */
function isOwnSync(response: ClientResponse): boolean {
  const { sync_id, received_bytes, missing_objects } = objectIn(response);
  return typeof sync_id === 'string' && typeof received_bytes === 'number' && typeof missing_objects === 'number';
}
