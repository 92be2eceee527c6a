import { etagOf, lockIn } from './known-lock.ts';
import { isOwnProblem } from './refusal.ts';
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
  let shown = false;

  /** Reads the store only if a response without marks makes it necessary. Another process may write it at any time. */
  function areShown(): boolean {
    shown ||= store?.read() === true;
    return shown;
  }

  return {
    observe(response: ClientResponse): void {
      if (shown || !bearsMarks(response)) return;
      shown = true;
      store?.write();
    },
    areShown,
    /** Whether the response, without any mark, is nevertheless the service's own: JSON, or nothing. */
    isFromService: ({ body }: ClientResponse): boolean =>
      (body.kind === 'json' || body.kind === 'empty') && !areShown(),
  };
}

/** For servers other than the service. Their refusals are their own, and their successes must be complete. */
export const noMarks: Marks = {
  observe: () => undefined,
  areShown: () => true,
  isFromService: (response) => !isSuccess(response),
};

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
