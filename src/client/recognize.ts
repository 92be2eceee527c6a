import { problemTypePrefix } from '../interface/problem.ts';
import { nameIn } from './json.ts';
import { namesHolder } from './known-lock.ts';
import { type ClientResponse, objectIn } from './response.ts';

/**
 * What gateways answer in place of a service: they have no route to it, want a login, or show a maintenance page. Some do so
 * after the service has done the work, because they replace its 502.
 */
export const isDisputed = (status: number): boolean =>
  [302, 303, 307, 401, 403, 404, 405, 409, 410, 412].includes(status);

/** What gateways answer where they do not let an encoded slash through. */
export const rejectsSlashes = (response: ClientResponse): boolean =>
  [400, 404, 405, 414].includes(response.status) && !isRecognized(response);

/**
 * Whether the service itself has sent this refusal: its errors have a type of their own, and only a service names the holder
 * of a lock. JSON, a request id or problem details of another type prove nothing: gateways send these, too.
 */
export const isRecognized = (response: ClientResponse): boolean => isOwnProblem(response) || namesHolder(response);

export const isOwnProblem = (response: ClientResponse): boolean =>
  nameIn(objectIn(response)['type'])?.startsWith(problemTypePrefix) === true;
