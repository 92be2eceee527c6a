import { etagOf } from './known-lock.ts';
import { isOwnProblem } from './refusal.ts';
import { type ClientResponse, isSuccess, objectIn } from './response.ts';

/** Stores, for all processes of a job, that the service has shown its marks. */
export interface MarksStore {
  read(): boolean;
  write(): void;
}

export type Marks = ReturnType<typeof createMarks>;

/**
 * Decides for all operations which responses are from the service. The interface leaves bodies and errors open, so a
 * service is believed until it has shown the marks. From then on, responses without marks are from a gateway.
 */
export function createMarks(store: MarksStore | undefined) {
  let shown = false;

  /** Reads the store only for a response without marks, because another process may write it at any time. */
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
    /** Whether a response without marks is the service's own: JSON or empty, as long as no marks were ever shown. */
    isFromService: ({ body }: ClientResponse): boolean =>
      (body.kind === 'json' || body.kind === 'empty') && !areShown(),
  };
}

/** For other servers than the service. Every refusal is their own, and a success must be complete. */
export const noMarks: Marks = {
  observe: () => undefined,
  areShown: () => true,
  isFromService: (response) => !isSuccess(response),
};

const bearsMarks = (response: ClientResponse): boolean =>
  isOwnProblem(response) ||
  (isSuccess(response) && (isOwnLock(response) || isOwnSync(response) || isOwnLease(response)));

/** The shape of a granted lock: it has a fence, and its id is also its ETag. */
function isOwnLock(response: ClientResponse): boolean {
  const { id, fence, expires_at } = objectIn(response);
  const isComplete = typeof id === 'string' && typeof fence === 'number' && typeof expires_at === 'string';
  return isComplete && etagOf(response) === `"${id}"`;
}

/** The bare interface has no leases. */
function isOwnLease(response: ClientResponse): boolean {
  const { id, state, locks, blocked } = objectIn(response);
  return typeof id === 'string' && typeof state === 'string' && (locks ?? blocked) !== undefined;
}

/** It has more counts than the interface defines. */
function isOwnSync(response: ClientResponse): boolean {
  const { sync_id, received_bytes, missing_objects } = objectIn(response);
  return typeof sync_id === 'string' && typeof received_bytes === 'number' && typeof missing_objects === 'number';
}
