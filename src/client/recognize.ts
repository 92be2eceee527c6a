import { problemTypePrefix } from '../interface/problem.ts';
import { nameIn } from './json.ts';
import { namesHolder } from './known-lock.ts';
import { type ClientResponse, objectIn } from './response.ts';

/**
 * Status codes that gateways send in place of a service: they have no route to it, require a login, or show a
 * maintenance page. Some do so after the service has done the work, to replace a 502.
 */
export const isDisputed = (status: number): boolean =>
  [302, 303, 307, 401, 403, 404, 405, 409, 410, 412].includes(status);

/** Whether a gateway may have rejected an encoded slash. */
export const rejectsSlashes = (response: ClientResponse): boolean =>
  [400, 404, 405, 414].includes(response.status) && !isRecognized(response);

/**
 * Whether the service itself has sent this refusal: its errors have types of their own, and only a service names the
 * holder of a lock. JSON, a request id or problem details of another type prove nothing: gateways send these, too.
 */
export const isRecognized = (response: ClientResponse): boolean => isOwnProblem(response) || namesHolder(response);

export const isOwnProblem = (response: ClientResponse): boolean =>
  nameIn(objectIn(response)['type'])?.startsWith(problemTypePrefix) === true;
